package crowd

import (
	"slices"
	"sync"
	"time"
)

const maxSamples = 1 << 20

// stats has the counts that are not about rules.
type stats struct {
	mu             sync.Mutex
	sockets, peak  int
	opened         int
	joins, handoff []time.Duration
	messages       map[string]int
	errors         map[string]int
	numberBusy     int
}

func newStats() *stats { return &stats{messages: map[string]int{}, errors: map[string]int{}} }

func (s *stats) socket(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets += by
	s.opened += max(by, 0)
	s.peak = max(s.peak, s.sockets)
}

func (s *stats) joined(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.joins) < maxSamples {
		s.joins = append(s.joins, took)
	}
}

func (s *stats) failed(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors[what]++
}

func (s *stats) sms(result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages[result]++
}

func (s *stats) busy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numberBusy++
}

// released records when the request to end a lease is sent.
func (h *hall) released(fence int64, since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if fence >= h.fence {
		h.fence, h.since = fence, since
	}
}

// granted records a handoff: the time from the request to end a lease until the next holder, who waited, has
// its state. The caller holds the model's lock.
func (s *stats) granted(h *hall, session string, now State, at time.Time) {
	h.mu.Lock()
	since, ended := h.since, h.fence
	h.mu.Unlock()
	b := h.model.log
	n := len(b.leases)
	if ended == 0 || n < 2 || b.leases[n-1].fence != now.Fence || b.leases[n-2].fence != ended ||
		b.ticket(now.Ticket).seen == 0 {
		return
	}
	if p := h.model.people[session]; p.sockets == 0 || p.since.After(since) {
		return // it could not be observed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.handoff) < maxSamples {
		s.handoff = append(s.handoff, at.Sub(since))
	}
}

// Quantiles are of a latency, in milliseconds.
type Quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

func quantiles(list []time.Duration) Quantiles {
	if len(list) == 0 {
		return Quantiles{}
	}
	list = slices.Sorted(slices.Values(list))
	at := func(q float64) float64 {
		return float64(list[int(q*float64(len(list)-1))].Microseconds()) / 1000
	}
	return Quantiles{Count: len(list), P50: at(0.5), P99: at(0.99), Max: at(1)}
}
