package outbox

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	attempts *prometheus.CounterVec
	tasks    *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_outbox_attempts_total",
			Help: "Phases of tasks that were tried, by kind, phase and result: ok, waiting (not ready yet) or failed.",
		}, []string{"kind", "phase", "result"}),
		tasks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_outbox_tasks",
			Help: "Tasks in the outbox, by kind and state (pending, dead); counted once a minute.",
		}, []string{"kind", "state"}),
	}
	if r != nil {
		r.MustRegister(m.attempts, m.tasks)
	}
	return m
}

func (m *metrics) attempt(t Task, err error) {
	result := "ok"
	switch {
	case errors.Is(err, ErrNotReady):
		result = "waiting"
	case err != nil:
		result = "failed"
	}
	m.attempts.WithLabelValues(t.Kind, string(t.Phase), result).Inc()
}

func (m *metrics) count(kind string, c Counts) {
	m.tasks.WithLabelValues(kind, "pending").Set(float64(c.Pending))
	m.tasks.WithLabelValues(kind, "dead").Set(float64(c.Dead))
}
