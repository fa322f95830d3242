package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

type status int

const (
	absent status = iota // has not come yet
	waiting
	holds
	served
	gone // left, or was dropped
)

// place is one seller's standing.
type place struct {
	status status
	joined float64
	away   bool    // noticed as gone: passed over
	back   float64 // until when its browser is gone
	passed bool    // it was away when the lock could have been its own
}

// watcher receives the events that a replica receives.
type watcher interface {
	joined(ticket int)
	ended(held float64, expired bool)
	granted(ticket int)
	left(ticket int)
	changed() // after all of one change was passed
}

// room simulates one room by the contract's rules: one lease at a time, the line in the order of tickets,
// away waiters passed over. Times are in seconds.
type room struct {
	world
	seed    uint64
	r       *rand.Rand
	watch   watcher
	now     float64
	events  events
	planned int

	places  []place // by ticket
	line    *counts // who waits
	there   *counts // and is not away
	tickets int
	holder  int // its ticket; 0 = the lock is free
	since   float64
	expires float64
}

func newRoom(w world, seed uint64, watch watcher) *room {
	size := w.arrivals.count + w.arrivals.spike
	r := &room{world: w, seed: seed, r: rand.New(rand.NewPCG(seed, 1)), watch: watch,
		places: make([]place, size+1), line: newCounts(size), there: newCounts(size)}
	for _, at := range w.arrivals.times(r.r, w.holding.dayMean(seed)) {
		r.plan(at, arrives, 0)
	}
	return r
}

// play simulates until there are no more events.
func (r *room) play() {
	for len(r.events) > 0 {
		r.step()
	}
}

func (r *room) step() {
	e := heap.Pop(&r.events).(event)
	r.now = e.at
	p := &r.places[e.ticket]
	switch {
	case e.kind == arrives:
		r.arrive()
	case e.kind == releases:
		r.release()
	case p.status != waiting:
	case e.kind == goes:
		r.goAway(e.ticket)
	case e.kind == noticed:
		p.away = true
		r.there.add(e.ticket, -1)
		r.watch.changed()
	case e.kind == returns:
		r.comeBack(e.ticket)
	default:
		r.leave(e.ticket)
	}
}

func (r *room) arrive() {
	r.tickets++
	t := r.tickets
	r.places[t].status, r.places[t].joined = waiting, r.now
	r.line.add(t, 1)
	r.there.add(t, 1)
	r.watch.joined(t)
	if patience := r.patience(r.r); !math.IsInf(patience, 1) {
		r.plan(r.now+patience, leaves, t)
	}
	if r.r.Float64() < r.away {
		r.plan(r.now+thereMean*r.r.ExpFloat64(), goes, t)
	}
	r.advance()
	r.watch.changed()
}

// goAway plans a whole absence.
func (r *room) goAway(t int) {
	length := absence(r.r)
	r.places[t].back = r.now + length
	if length > awayAfter {
		r.plan(r.now+awayAfter, noticed, t)
	}
	if length > awayAfter+dropAfter {
		r.plan(r.now+awayAfter+dropAfter, drops, t)
		return
	}
	r.plan(r.now+length, returns, t)
}

func (r *room) comeBack(t int) {
	r.plan(r.now+thereMean*r.r.ExpFloat64(), goes, t)
	if p := &r.places[t]; p.away {
		p.away = false
		r.there.add(t, 1)
		r.advance()
		r.watch.changed()
	}
}

func (r *room) leave(t int) {
	r.unqueue(t)
	r.places[t].status = gone
	r.watch.left(t)
	r.watch.changed()
}

func (r *room) release() {
	held := r.now - r.since
	r.places[r.holder].status = served
	r.holder = 0
	r.watch.ended(held, r.now >= r.expires-1e-6)
	r.advance()
	r.watch.changed()
}

func (r *room) unqueue(t int) {
	r.line.add(t, -1)
	if !r.places[t].away {
		r.there.add(t, -1)
	}
}

// advance grants a free lock to the first waiter that is present.
func (r *room) advance() {
	if r.holder != 0 {
		return
	}
	t := r.there.first()
	if t == 0 {
		r.passOver(len(r.places))
		return
	}
	r.passOver(t)
	r.unqueue(t)
	p := &r.places[t]
	p.status, r.holder, r.since, r.expires = holds, t, r.now, r.now+leaseLength
	late := max(p.back-r.now, 0) // its browser is gone, which is not noticed yet
	held := min(late+r.holding.draw(r.r, r.now, r.seed), leaseLength)
	r.plan(r.now+held, releases, t)
	r.watch.granted(t)
}

// passOver records the away waiters that a grant, or a lock that stayed free, has passed over.
func (r *room) passOver(before int) {
	for t := r.line.first(); t != 0 && t < before; t++ {
		if p := &r.places[t]; p.status == waiting {
			p.passed = true
		}
	}
}
