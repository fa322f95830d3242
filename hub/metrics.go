package hub

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// metrics carry no room and no session: labels are few and fixed.
type metrics struct {
	sockets, rooms, desks prometheus.Gauge
	states, messages      prometheus.Counter
	pings, probes         prometheus.Counter
	resyncs               *prometheus.CounterVec
	events                [4]prometheus.Counter // by verdict
	slow, silent, floods  prometheus.Counter
	reconnects            prometheus.Counter
	failures              prometheus.Counter
	expireLag, handoff    prometheus.Histogram

	deskResyncs, changes, changeBytes prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Namespace: "waitroom", Subsystem: "hub", Name: name,
			Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Namespace: "waitroom", Subsystem: "hub", Name: name,
			Help: help})
	}
	vector := func(name, label, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Namespace: "waitroom", Subsystem: "hub", Name: name,
			Help: help}, []string{label})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return f.NewHistogram(prometheus.HistogramOpts{Namespace: "waitroom", Subsystem: "hub", Name: name,
			Help:    help,
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2, 5, 10}})
	}
	frames := vector("frames_total", "type", "Frames written to sockets.")
	events := vector("events_total", "verdict", "Events from the store, by what they were to the mirror.")
	return &metrics{
		sockets: gauge("sockets", "Open sockets of sellers and spectators."),
		rooms:   gauge("rooms", "Rooms followed."),
		desks:   gauge("desk_sockets", "Open sockets of support, which are not among the others."),
		states:  frames.WithLabelValues("state"), pings: frames.WithLabelValues("ping"),
		probes: frames.WithLabelValues("probe"), messages: frames.WithLabelValues("sms"),
		resyncs: vector("resyncs_total", "reason", "Snapshots asked for, by reason."),
		events: [...]prometheus.Counter{mirror.Applied: events.WithLabelValues("applied"),
			mirror.Noted: events.WithLabelValues("noted"),
			mirror.Old:   events.WithLabelValues("old"), mirror.Gap: events.WithLabelValues("gap")},
		slow:   counter("slow_closes_total", "Sockets closed because they took nothing for too long."),
		silent: counter("silent_closes_total", "Sockets closed because they answered no ping."),
		floods: counter("flood_closes_total", "Sockets closed because they sent too much."),
		reconnects: counter("reconnects_total",
			"Subscriptions made anew because the probe did not come back."),
		failures: counter("store_failures_total", "Calls to the store that failed; each is made again."),
		expireLag: histogram("expire_lag_seconds",
			"From when a lease ran out, or was to be claimed, to the store's ending it, by the "+
				"store's clock."),
		deskResyncs: counter("desk_resyncs_total", "Times a socket of support was shown everything anew."),
		changes:     counter("desk_changes_total", "Changes sent to support, each counted once for all agents."),
		changeBytes: counter("desk_change_bytes_total", "Bytes of those changes."),
		handoff: histogram("handoff_seconds",
			"From the grant to the new holder's frame, by the store's clock."),
	}
}

// event counts an event that was compared with a mirror.
func (m *metrics) event(v mirror.Verdict) {
	if int(v) < len(m.events) {
		m.events[v].Inc()
	}
}

// expired observes how late an expired lease was ended.
func (m *metrics) expired(e *room.Event, before room.Lease) {
	for i := range e.Ended {
		if f := &e.Ended[i]; f.Outcome == room.Expired && f.Fence == before.Fence {
			late := time.Duration(e.Now-before.ExpiresAt) * time.Millisecond
			m.expireLag.Observe(late.Seconds())
		}
	}
	for range e.Missed {
		m.expireLag.Observe((time.Duration(e.Now-before.Ends()) * time.Millisecond).Seconds())
	}
}
