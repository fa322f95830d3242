package hub

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// beatEvery is how often support is told how old is what it sees.
const beatEvery = time.Second

// desks are all sockets of support here.
type desks struct {
	h *Hub

	mu    sync.Mutex
	conns []*conn
	added int // how many there ever were

	last     atomic.Pointer[[]byte] // the latest beat
	checking atomic.Int32           // how many times sign-ins are to be checked still; who makes it 1 does it
}

func newDesks(h *Hub) *desks { return &desks{h: h} }

func (d *desks) add(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.desk.spot, c.desk.turn = len(d.conns), d.added%turns
	d.added++
	d.conns = append(d.conns, c)
	d.h.metrics.desks.Inc()
}

func (d *desks) remove(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.conns) - 1
	d.conns[c.desk.spot] = d.conns[last]
	d.conns[c.desk.spot].desk.spot = c.desk.spot
	d.conns[last] = nil
	d.conns = d.conns[:last]
	d.h.metrics.desks.Dec()
}

func (d *desks) list() []*conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.conns)
}

// inTurn are the sockets whose sign-in is asked again now.
func (d *desks) inTurn(turn int) []*conn {
	return slices.DeleteFunc(d.list(), func(c *conn) bool { return c.desk.turn != turn })
}

func (d *desks) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

// mark has everybody told something that the hub tells, not a room.
func (d *desks) mark(what uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		c.Mark(what, false)
	}
}

// run beats, closes the sockets whose sign-in is over, and has the replicas gone through.
func (d *desks) run(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d.h.replicas.sift()
		if d.count() > 0 {
			d.closeOver()
			frame := beatFrame(d.h.clock.MS(), d.h.sub.AsOf())
			d.last.Store(&frame)
			d.mark(dueBeat)
		}
	}
}

// beat is the latest beat; nil before the first.
func (d *desks) beat() []byte {
	if frame := d.last.Load(); frame != nil {
		return *frame
	}
	return nil
}
