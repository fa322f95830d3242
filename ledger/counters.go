package ledger

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

// counts are what one transaction wrote of places, leases and messages.
type counts struct {
	joined, granted int
	places, leases  outcomeCounts
	messages        map[answer]int
}

// answer is the first answer to a message.
type answer struct{ result, reason string }

// outcomeCounts count each place or lease by its first known outcome. Later corrections count apart.
type outcomeCounts struct {
	ended     map[room.Outcome]int
	corrected map[correction]int
}

// correction is a counted outcome and the one that replaced it.
type correction struct{ from, to room.Outcome }

// reopened is the outcome of a place that is open again.
const reopened room.Outcome = "open"

func (e *outcomeCounts) end(o room.Outcome, n int) {
	if e.ended == nil {
		e.ended = make(map[room.Outcome]int)
	}
	e.ended[o] += n
}

func (e *outcomeCounts) correct(from, to room.Outcome) {
	if e.corrected == nil {
		e.corrected = make(map[correction]int)
	}
	e.corrected[correction{from, to}]++
}

// answered counts a message's first answer.
func (t *counts) answered(r room.Record) {
	if t.messages == nil {
		t.messages = make(map[answer]int)
	}
	t.messages[answer{string(r.Result), r.Reason}]++
}

// counters are the sums over all transactions. Each place, lease and message counts once over all replicas:
// the replicas' sums are the numbers of rows.
type counters struct {
	joined, granted prometheus.Counter
	places, leases  outcomeCounters
	messages        *prometheus.CounterVec
}

// outcomeCounters are the sums of outcomeCounts.
type outcomeCounters struct{ ended, corrected *prometheus.CounterVec }

func newCounters() counters {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_" + name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_" + name, Help: help}, labels)
	}
	t := counters{
		joined:  counter("places_joined_total", "Places taken, counted when the ledger has them."),
		granted: counter("leases_granted_total", "Leases granted, counted when the ledger has them."),
		places: outcomeCounters{
			ended: vec("places_ended_total",
				"Places ended, by the outcome known first, counted when the ledger has them.", "outcome"),
			corrected: vec("places_corrected_total", "Outcomes of places put right after they were counted.", "from",
				"to")},
		leases: outcomeCounters{
			ended: vec("leases_ended_total",
				"Leases ended, by the outcome known first, counted when the ledger has them.", "outcome"),
			corrected: vec("leases_corrected_total", "Outcomes of leases put right after they were counted.", "from",
				"to")},
		messages: vec("messages_total",
			"Inbound SMS by their first answer, counted once each when the ledger has it.", "result", "reason"),
	}
	t.initialize()
	return t
}

// initialize sets each series to zero, because a rate needs a first value.
func (t counters) initialize() {
	for _, o := range []room.Outcome{room.Completed, room.Cancelled, room.Expired, room.Forced, room.Removed,
		room.Dropped, room.Lost} {
		t.places.ended.WithLabelValues(string(o))
	}
	for _, o := range []room.Outcome{room.Completed, room.Cancelled, room.Expired, room.Forced, room.Unclaimed,
		room.Lost} {
		t.leases.ended.WithLabelValues(string(o))
	}
	t.messages.WithLabelValues(string(room.Matched), "")
	t.messages.WithLabelValues(string(room.Late), "")
	for _, reason := range []room.Reason{room.NoLease, room.Ambiguous, room.NotExpected} {
		t.messages.WithLabelValues(string(room.Unmatched), string(reason))
	}
}

func (t counters) collectors() []prometheus.Collector {
	return []prometheus.Collector{t.joined, t.granted, t.places.ended, t.places.corrected,
		t.leases.ended, t.leases.corrected, t.messages}
}

func (t counters) add(one counts) {
	t.joined.Add(float64(one.joined))
	t.granted.Add(float64(one.granted))
	t.places.add(one.places)
	t.leases.add(one.leases)
	for of, n := range one.messages {
		t.messages.WithLabelValues(of.result, of.reason).Add(float64(n))
	}
}

func (t outcomeCounters) add(one outcomeCounts) {
	for outcome, n := range one.ended {
		t.ended.WithLabelValues(string(outcome)).Add(float64(n))
	}
	for c, n := range one.corrected {
		t.corrected.WithLabelValues(string(c.from), string(c.to)).Add(float64(n))
	}
}
