package lockredis

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waitroom/waitroom/lock"
)

// watch counts and traces the locker's calls. A key is in a span, never in a metric: there is no end of keys.
type watch struct {
	tracer   trace.Tracer
	waits    *prometheus.HistogramVec
	holds    prometheus.Histogram
	losses   *prometheus.CounterVec
	failures *prometheus.CounterVec
}

func newWatch(r prometheus.Registerer, t trace.Tracer) *watch {
	if t == nil {
		t = noop.Tracer{}
	}
	buckets := prometheus.ExponentialBuckets(0.001, 4, 9) // 1 ms to 65 s
	return &watch{
		tracer: t,
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

// register returns what another Locker has registered already: they count together.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	if r == nil {
		return c
	}
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

// call begins a span; the returned function ends it, and counts failures.
func (w *watch) call(ctx context.Context, name string, key lock.Key) (context.Context, func(error)) {
	ctx, span := w.tracer.Start(ctx, "lock."+name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("lock.key", key.String())))
	return ctx, func(err error) {
		defer span.End()
		if errors.Is(err, lock.ErrNotHeld) {
			w.lost("lease")
		}
		if errors.Is(err, lock.ErrStore) {
			w.failures.WithLabelValues(name).Inc()
		}
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
	}
}

// wait is call for the calls that wait for the lock.
func (w *watch) wait(ctx context.Context, name string, key lock.Key) (context.Context, func(error)) {
	begun := time.Now()
	ctx, over := w.call(ctx, name, key)
	return ctx, func(err error) {
		w.waits.WithLabelValues(result(err)).Observe(time.Since(begun).Seconds())
		over(err)
	}
}

func result(err error) string {
	switch {
	case err == nil:
		return "acquired"
	case errors.Is(err, lock.ErrStore):
		return "failed"
	case errors.Is(err, lock.ErrNotAcquired):
		return "not_acquired"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "refused"
}

// held counts a hold that was over at unix ms `now` of Redis's clock. A fence is the time of its grant in
// microseconds of that clock, unless that clock has gone back.
func (w *watch) held(lease *lock.Lease, now int64) {
	w.holds.Observe(max(0, float64(now)/1e3-float64(lease.Fence)/1e6))
}

func (w *watch) lost(what string) { w.losses.WithLabelValues(what).Inc() }

func (w *watch) failed() { w.failures.WithLabelValues("background").Inc() }
