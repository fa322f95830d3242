package sms

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

// metrics counts answers. No label has anything of a message.
type metrics struct {
	answers *prometheus.CounterVec
	events  *prometheus.CounterVec
	named   map[string]bool // the labels of events, bounded
	mu      sync.Mutex      // of named
	refused prometheus.Counter
	away    prometheus.Counter
	seconds prometheus.Histogram
}

// results are all values of the label of waitroom_sms_total.
var results = []string{string(room.Matched), string(room.Late), string(room.NoLease), string(room.Ambiguous),
	string(room.NotExpected), string(room.Rejected), string(room.WrongNumber), badSignature,
	"invalid_json", "invalid_message",
	BodyTooLarge, noRoom, "unknown_room", "unknown_source", "not_found", "method_not_allowed", "wrong_host",
	failed}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_sms_total",
			Help: "Inbound SMS by what was answered; a repeat counts again."}, []string{"result"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_sms_events_total",
			Help: "Signed requests of sources that were no inbound SMS, by the name of the event."},
			[]string{"source", "event"}),
		named: make(map[string]bool),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_sms_refused_total",
			Help: "Matches whose carrier was answered that the ledger refused them; waitroom_ledger_judged_total " +
				"has all."}),
		away: prometheus.NewCounter(prometheus.CounterOpts{Name: "waitroom_sms_ledger_away_total",
			Help: "Questions about an inbound SMS that the ledger did not answer in time."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waitroom_sms_answer_seconds",
			Help:    "How long inbound SMS took to be answered.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 15)}),
	}
	for _, result := range results {
		m.answers.WithLabelValues(result) // a rate needs a first value
	}
	if r != nil {
		r.MustRegister(m.answers, m.events, m.refused, m.away, m.seconds)
	}
	return m
}

func (m *metrics) answered(match room.Match, err error, took time.Duration) {
	m.answers.WithLabelValues(resultLabel(match, err)).Inc()
	m.seconds.Observe(took.Seconds())
}

// mostEvents bounds the events that are counted apart: their names are the sources'.
const mostEvents = 100

// ignored counts a request that is no inbound SMS.
func (m *metrics) ignored(source, event string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := source + "/" + event; !m.named[of] {
		if len(m.named) >= mostEvents {
			event = "other"
		} else {
			m.named[of] = true
		}
	}
	m.events.WithLabelValues(source, event).Inc()
}

func resultLabel(match room.Match, err error) string {
	switch {
	case errors.Is(err, ErrSignature):
		return badSignature
	case errors.Is(err, ErrInvalidJSON):
		return "invalid_json"
	case errors.Is(err, ErrInvalidMessage):
		return "invalid_message"
	case err != nil:
		return failed
	case match.Result == room.Unmatched:
		return string(match.Reason)
	}
	return string(match.Result)
}
