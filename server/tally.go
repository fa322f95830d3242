package server

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// tally counts what happened when the ledger has it: over all replicas each thing once, or again after a trim that failed.
type tally struct {
	ledger.Journal
	joined, granted prometheus.Counter
	ended           *prometheus.CounterVec
}

func newTally(j ledger.Journal, r prometheus.Registerer) *tally {
	t := &tally{Journal: j,
		joined:  prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_places_joined_total", Help: "Places taken, counted when the ledger has them."}),
		granted: prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_leases_granted_total", Help: "Leases granted, counted when the ledger has them."}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_places_ended_total",
			Help: "Places ended, by outcome, counted when the ledger has them."}, []string{"outcome"}),
	}
	for _, o := range []room.Outcome{room.Completed, room.Cancelled, room.Expired, room.Forced, room.Removed, room.Dropped, room.Lost} {
		t.ended.WithLabelValues(string(o)) // a rate needs a zero to begin with
	}
	r.MustRegister(t.joined, t.granted, t.ended)
	return t
}

// TrimJournals takes out of the journals what the ledger has, and counts it.
func (t *tally) TrimJournals(ctx context.Context, journals []room.Journal) []error {
	failed := t.Journal.TrimJournals(ctx, journals)
	for i, j := range journals {
		if failed[i] == nil {
			t.countAll(j.Entries)
		}
	}
	return failed
}

func (t *tally) countAll(entries []room.Entry) {
	for _, entry := range entries {
		for _, r := range entry.Records {
			t.count(r)
		}
	}
}

func (t *tally) count(r room.Record) {
	switch r.Type {
	case "joined":
		t.joined.Inc()
	case "granted":
		t.granted.Inc()
	case "ended":
		t.ended.WithLabelValues(string(r.Outcome)).Inc()
	}
}
