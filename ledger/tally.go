package ledger

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

// tally counts what a transaction wrote of places and leases. A place counts as ended once, by the outcome that was known first.
type tally struct {
	joined, granted int
	ended           map[room.Outcome]int
}

// record counts a record of the journal, unless it could not be applied.
func (t *tally) record(r room.Record, err error) error {
	switch {
	case err != nil:
	case r.Type == "joined":
		t.joined++
	case r.Type == "granted":
		t.granted++
	case r.Type == "ended":
		t.end(r.Outcome, 1)
	}
	return err
}

func (t *tally) end(o room.Outcome, places int) {
	if t.ended == nil {
		t.ended = make(map[room.Outcome]int)
	}
	t.ended[o] += places
}

// tallied are the counters of all transactions. Over all replicas each thing counts once.
type tallied struct {
	joined, granted prometheus.Counter
	ended           *prometheus.CounterVec
}

func newTallied() tallied {
	t := tallied{
		joined:  prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_places_joined_total", Help: "Places taken, counted when the ledger has them."}),
		granted: prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_leases_granted_total", Help: "Leases granted, counted when the ledger has them."}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_places_ended_total",
			Help: "Places ended, by outcome, counted when the ledger has them."}, []string{"outcome"}),
	}
	for _, o := range []room.Outcome{room.Completed, room.Cancelled, room.Expired, room.Forced, room.Removed, room.Dropped, room.Lost} {
		t.ended.WithLabelValues(string(o)) // a rate needs a zero to begin with
	}
	return t
}

func (t tallied) add(one tally) {
	t.joined.Add(float64(one.joined))
	t.granted.Add(float64(one.granted))
	for outcome, places := range one.ended {
		t.ended.WithLabelValues(string(outcome)).Add(float64(places))
	}
}
