package socket

import (
	"context"
	"sync"
	"time"
)

const (
	slots       = 100 // over how many moments of the ping interval the sockets are spread
	answerSlots = 40  // how many moments a browser has to answer
	leastAnswer = 5   // and at least one part in so many of the ping interval, after its ping was written
)

// wheel pings each socket once in an interval, spread over the interval, and closes silent ones: nothing was
// received since a ping, or the page has not answered two.
type wheel struct {
	p     *Pool
	mu    sync.Mutex
	now   int
	slots [slots]slot
}

type slot struct {
	mu             sync.Mutex
	conns          []*Conn
	pinged, before int64 // when its sockets were pinged last, and the time before; ns of the pool's clock
}

func newWheel(p *Pool) *wheel { return &wheel{p: p} }

// add gives a socket its slot, in which it is pinged for the first time after one interval. It need not
// answer pings of its slot from before that.
func (w *wheel) add(c *Conn) {
	w.mu.Lock()
	c.slot = int32(w.now)
	w.mu.Unlock()
	s := &w.slots[c.slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := w.p.now()
	c.heard.Store(now)
	c.pong.Store(now)
	c.spot = int32(len(s.conns))
	s.conns = append(s.conns, c)
}

func (w *wheel) remove(c *Conn) {
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
	tick := time.NewTicker(w.p.cfg.PingEvery / slots)
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

// turn counts slots instead of time, so that after a pause of the process every socket has its full time to
// answer.
func (w *wheel) turn() {
	w.mu.Lock()
	w.now = (w.now + 1) % slots
	now := w.now
	w.mu.Unlock()
	w.slots[now].ping(w.p.now())
	for _, c := range w.slots[(now+slots-answerSlots)%slots].silent(w.p.now(),
		int64(w.p.cfg.PingEvery)/leastAnswer) {
		w.p.cfg.Silent.Inc()
		c.Kill()
	}
}

// ping marks every socket in the slot for a ping.
func (s *slot) ping(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pinged, s.before = now, s.pinged
	for _, c := range s.conns {
		c.Mark(duePing, false)
	}
}

// silent returns the sockets whose time to answer is over. A socket whose ping still waits behind other
// frames has had no time to answer.
func (s *slot) silent(now, within int64) (silent []*Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		switch asked := c.asked.Load(); {
		case asked < s.pinged || now-asked < within:
		case c.heard.Load() < asked:
			c.lost.Store(true)
			silent = append(silent, c)
		case c.pong.Load() < s.before:
			silent = append(silent, c)
		}
	}
	return silent
}
