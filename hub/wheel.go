package hub

import (
	"context"
	"sync"
	"time"
)

// slots is over how many moments of the ping interval the sockets are spread.
const slots = 100

// silentFor is for how many ping intervals a socket may answer nothing.
const silentFor = 2.4

// wheel pings the sockets, each once per interval and all spread over it, and closes the silent.
type wheel struct {
	h     *Hub
	mu    sync.Mutex
	now   int
	slots [slots]slot
}

type slot struct {
	mu    sync.Mutex
	conns []*conn
}

func newWheel(h *Hub) *wheel { return &wheel{h: h} }

// add gives a socket its place: its first ping is one interval away.
func (w *wheel) add(c *conn) {
	w.mu.Lock()
	c.slot = w.now
	w.mu.Unlock()
	s := &w.slots[c.slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	c.spot = len(s.conns)
	s.conns = append(s.conns, c)
}

func (w *wheel) remove(c *conn) {
	s := &w.slots[c.slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.conns) - 1
	s.conns[c.spot] = s.conns[last]
	s.conns[c.spot].spot = c.spot
	s.conns[last] = nil
	s.conns = s.conns[:last]
}

func (w *wheel) run(ctx context.Context) {
	tick := time.NewTicker(w.h.cfg.PingEvery / slots)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.turn()
		}
	}
}

func (w *wheel) turn() {
	w.mu.Lock()
	w.now = (w.now + 1) % slots
	now := w.now
	w.mu.Unlock()
	for _, c := range w.slots[now].ping(w.h) {
		w.h.metrics.silent.Inc()
		c.kill()
	}
}

// ping marks everybody in the slot for a ping and returns the silent.
func (s *slot) ping(h *Hub) (silent []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := int64(time.Since(h.clock.start)) - int64(silentFor*float64(h.cfg.PingEvery))
	for _, c := range s.conns {
		if c.pong.Load() < heard {
			silent = append(silent, c)
		} else {
			c.mark(duePing, false)
		}
	}
	return silent
}
