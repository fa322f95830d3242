// Package lockprom counts for a lockredis.Locker with Prometheus: waitroom_lock_wait_seconds by result,
// waitroom_lock_hold_seconds, waitroom_lock_losses_total (a lease that was over before its holder was done, a
// place in line) and waitroom_lock_failures_total by call. Keys are in no metric.
package lockprom

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics is a lockredis.Metrics.
type Metrics struct {
	waits    *prometheus.HistogramVec
	holds    prometheus.Histogram
	losses   *prometheus.CounterVec
	failures *prometheus.CounterVec
}

// New registers the metrics. Metrics of one registerer count together. New panics if the registerer has
// another metric with one of their names.
func New(r prometheus.Registerer) *Metrics {
	buckets := prometheus.ExponentialBuckets(0.001, 4, 9) // 1 ms to 65 s
	return &Metrics{
		waits: register(r,
			prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waitroom_lock_wait_seconds", Buckets: buckets,
				Help: "How long TryLock and Lock took, by result: acquired, not_acquired, cancelled, refused, failed."},
				[]string{"result"})),
		holds: register(r,
			prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waitroom_lock_hold_seconds", Buckets: buckets,
				Help: "How long locks were held that were unlocked in time."})),
		losses: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_lock_losses_total",
			Help: "What was lost: a lease that was over before its holder was done with it (lease), a place in line " +
				"(place)."}, []string{"what"})),
		failures: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_lock_failures_total",
			Help: "Calls that Redis did not answer, or not intelligibly; background is what no caller waits for."},
			[]string{"call"})),
	}
}

// register returns the metric that the registerer has already, if there is one.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	err := r.Register(c)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := there.ExistingCollector.(C); ok {
			return same
		}
	}
	if err != nil {
		panic(err) // another kind of metric has the name
	}
	return c
}

// Took implements lockredis.Metrics.
func (m *Metrics) Took(result string, d time.Duration) {
	if result == "held" {
		m.holds.Observe(d.Seconds())
		return
	}
	m.waits.WithLabelValues(result).Observe(d.Seconds())
}

// Lost implements lockredis.Metrics.
func (m *Metrics) Lost(what string) { m.losses.WithLabelValues(what).Inc() }

// Failed implements lockredis.Metrics.
func (m *Metrics) Failed(call string) { m.failures.WithLabelValues(call).Inc() }
