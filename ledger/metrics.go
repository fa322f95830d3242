package ledger

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
)

type metrics struct {
	entries     prometheus.Counter
	lag         prometheus.Histogram
	deadLetters prometheus.Counter
	filling     prometheus.Counter
	incidents   *prometheus.CounterVec
	judged      *prometheus.CounterVec
	counters    counters
}

func newMetrics(r prometheus.Registerer, l *Ledger) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_ledger_" + name, Help: help})
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_ledger_" + name, Help: help},
			[]string{label})
	}
	gauge := func(name, help string, read func() float64) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "waitroom_ledger_" + name, Help: help}, read)
	}
	m := &metrics{
		entries: counter("entries_total", "Journal entries taken in."),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waitroom_ledger_lag_seconds",
			Help:    "Time from a change to its entry in the ledger.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 15, 60, 300}}),
		deadLetters: counter("parked_total", "Journal entries that could not be applied and were dead-lettered."),
		filling:     counter("journal_filling_total", "Times that a room's journal was seen at least half full."),
		incidents:   vec("incidents_total", "Incidents, by kind.", "kind"),
		judged:      vec("judged_total", "Matched messages judged, by verdict.", "verdict"),
		counters:    newCounters(),
	}
	for _, verdict := range []string{agreed, refused} {
		m.judged.WithLabelValues(verdict) // a rate needs a first value
	}
	if r != nil {
		r.MustRegister(m.entries, m.lag, m.deadLetters, m.filling, m.incidents, m.judged,
			gauge("pending_entries", "Journal entries that this replica knows to wait.",
				func() float64 { return float64(l.Status().Pending) }),
			gauge("behind_seconds", "How long the ledger has been behind; 0 when it is not.", l.behindSeconds))
		r.MustRegister(m.counters.collectors()...)
		r.MustRegister(databaseMetrics(l.db)...)
	}
	return m
}

// databaseMetrics are the database's own counts.
func databaseMetrics(db *sqldb.DB) []prometheus.Collector {
	const probes = "Times the database was asked whether it is there because a question was slow, by answer."
	count := func(name, help string, labels prometheus.Labels,
		read func(sqldb.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "waitroom_ledger_" + name, Help: help,
			ConstLabels: labels}, func() float64 { return float64(read(db.Stats())) })
	}
	return []prometheus.Collector{
		count("failures_total", "Database operations that failed.", nil,
			func(s sqldb.Stats) uint64 { return s.Failures }),
		count("probes_total", probes, prometheus.Labels{"answer": "there"},
			func(s sqldb.Stats) uint64 { return s.Answered }),
		count("probes_total", probes, prometheus.Labels{"answer": "none"},
			func(s sqldb.Stats) uint64 { return s.Silent }),
	}
}

func (l *Ledger) behindSeconds() float64 {
	if s := l.Status(); s.Behind {
		return l.cfg.Now().Sub(s.Since).Seconds()
	}
	return 0
}

func (m *metrics) drained(entries []room.Entry, now time.Time) {
	m.entries.Add(float64(len(entries)))
	for _, e := range entries {
		if at, err := schema.EntryTime(e.ID); err == nil {
			m.lag.Observe(max(now.Sub(at).Seconds(), 0))
		}
	}
}
