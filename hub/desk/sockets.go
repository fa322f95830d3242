package desk

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// heartbeatEvery is how often support gets the age of its data.
const heartbeatEvery = time.Second

// sockets are all sockets of support on this replica.
type sockets struct {
	d *Desk

	mu    sync.Mutex
	conns []*Conn
	added int // how many there ever were

	last atomic.Pointer[[]byte] // the latest heartbeat
	// requested checks of all sign-ins; the caller that raises it from 0 to 1 makes them
	checking atomic.Int32
}

func (s *sockets) add(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.spot, c.turn = len(s.conns), s.added%turns
	s.added++
	s.conns = append(s.conns, c)
	s.d.Metrics.Sockets.Inc()
}

func (s *sockets) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.conns) - 1
	s.conns[c.spot] = s.conns[last]
	s.conns[c.spot].spot = c.spot
	s.conns[last] = nil
	s.conns = s.conns[:last]
	s.d.Metrics.Sockets.Dec()
}

func (s *sockets) list() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.conns)
}

// inTurn returns the sockets whose sign-in is checked in this turn.
func (s *sockets) inTurn(turn int) []*Conn {
	return slices.DeleteFunc(s.list(), func(c *Conn) bool { return c.turn != turn })
}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// mark marks every socket for a frame that belongs to no room.
func (s *sockets) mark(what uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Mark(what, false)
	}
}

// run sends heartbeats, closes sockets whose sign-in has ended, and removes replicas that are gone.
func (s *sockets) run(ctx context.Context) {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.d.replicas.sift()
		if s.count() > 0 {
			s.closeOver()
			frame := heartbeatFrame(s.d.Clock.MS(), s.d.Sub.AsOf())
			s.last.Store(&frame)
			s.mark(dueHeartbeat)
		}
	}
}

// heartbeat returns the latest heartbeat; nil before the first.
func (s *sockets) heartbeat() []byte {
	if frame := s.last.Load(); frame != nil {
		return *frame
	}
	return nil
}
