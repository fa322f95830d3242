package outbox

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	attempts *prometheus.CounterVec
	tasks    *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_outbox_attempts_total", Help: "Webhook deliveries tried, by result.",
		}, []string{"result"}),
		tasks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_outbox_tasks", Help: "Tasks in the outbox, by state; counted once a minute.",
		}, []string{"state"}),
	}
	if r != nil {
		r.MustRegister(m.attempts, m.tasks)
	}
	return m
}

func (m *metrics) attempt(err error) {
	result := "delivered"
	if err != nil {
		result = "failed"
	}
	m.attempts.WithLabelValues(result).Inc()
}

func (m *metrics) count(c Counts) {
	m.tasks.WithLabelValues("pending").Set(float64(c.Pending))
	m.tasks.WithLabelValues("dead").Set(float64(c.Dead))
}
