package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// simulation simulates rooms event by event. Sellers arrive at random, wait, lose patience, lose sockets,
// hold the lock and hand it on; replicas follow rooms, coalesce changes and stop following. It uses none of
// the formulas, and counts the events and their cost.
type simulation struct {
	n      numbers
	random *rand.Rand
	queue  agenda
	now    float64
	rooms  []*simRoom
	count  rates
	from   float64 // counting began
	people struct{ waiting, holding, followed int }
}

// simRoom is one room, with what each replica knows of it.
type simRoom struct {
	line          []*simSeller
	holder        *simSeller
	arrivals      float64 // a second
	first, spread int     // the replicas that the balancer sends it to
	at            []simHall
}

// simHall is a room on one replica.
type simHall struct {
	sockets int
	follows bool
	emptied float64
	sentAt  float64 // when all sockets were sent their state
	due     bool
}

type simSeller struct {
	room    *simRoom
	replica int
	gone    bool
}

// simulate runs a world for a number of seconds, after as many to settle, and returns the events per second.
func simulate(w world, n numbers, seconds float64, seed uint64) (perSecond, counted rates) {
	s := &simulation{n: n, random: rand.New(rand.NewPCG(seed, seed))}
	for i := range int(w.rooms) {
		// Sellers arrive at the rate at which they are served or lose patience in a line of this length.
		r := &simRoom{arrivals: 1/n.hold + w.line()/n.patience, at: make([]simHall, int(w.replicas)),
			spread: int(w.replicas)}
		if w.routed {
			r.first, r.spread = i, int(w.each(n))
		}
		s.rooms = append(s.rooms, r)
		for range int(w.line()) + 1 {
			s.join(r)
		}
		s.next(r)
	}
	settle := max(2*n.linger, 20)
	s.until(settle)
	s.count, s.from = rates{}, settle
	s.until(settle + seconds)
	c := s.count
	for _, x := range c.all() {
		*x.at /= seconds
	}
	for _, x := range c.cores() {
		*x.at /= seconds * 1e6
	}
	return c, s.count
}

// takes adds processor time in µs to Redis, the replicas and the ledger.
func (s *simulation) takes(redis, replica, ledger float64) {
	s.count.redis += redis
	s.count.replica += replica
	s.count.ledger += ledger
}

func (s *simulation) until(end float64) {
	for len(s.queue) > 0 && s.queue[0].at <= end {
		o := heap.Pop(&s.queue).(occasion)
		s.pass(o.at)
		o.do()
	}
	s.pass(end)
}

// pass adds the waiting time of all sellers until a time.
func (s *simulation) pass(to float64) {
	d := to - s.now
	s.count.waiting += d * float64(s.people.waiting)
	s.count.holding += d * float64(s.people.holding)
	s.count.followed += d * float64(s.people.followed)
	waiting, rooms, followed := d*float64(s.people.waiting), d*float64(len(s.rooms)),
		d*float64(s.people.followed)
	s.takes(waiting*s.n.redisIdleWaiter+rooms*s.n.redisIdleRoom,
		waiting*s.n.replicaIdleWaiter+followed*s.n.replicaIdleRoom, 0)
	s.now = to
}

func (s *simulation) after(wait float64, do func()) { heap.Push(&s.queue, occasion{s.now + wait, do}) }

// chance returns an exponentially distributed time.
func (s *simulation) chance(mean float64) float64 { return s.random.ExpFloat64() * mean }

func (s *simulation) next(r *simRoom) {
	s.after(s.chance(1/r.arrivals), func() { s.join(r); s.next(r) })
}

func (s *simulation) join(r *simRoom) {
	p := &simSeller{room: r, replica: -1}
	s.count.joins++
	s.takes(s.n.redisJoin, s.n.replicaJoin, s.n.dbJoin)
	r.line = append(r.line, p)
	s.people.waiting++
	s.connect(p)
	if r.holder == nil {
		s.grant(r)
	}
	s.change(r)
	s.after(s.chance(s.n.patience), func() { s.leave(p) })
	s.drop(p)
}

// drop plans that a seller's socket breaks after a while and another one opens.
func (s *simulation) drop(p *simSeller) {
	s.after(s.chance(s.n.reconnectEvery), func() {
		if !p.gone {
			s.disconnect(p)
			s.connect(p)
			s.drop(p)
		}
	})
}

func (s *simulation) connect(p *simSeller) {
	p.replica = (p.room.first + s.random.IntN(p.room.spread)) % len(p.room.at)
	s.count.opens++
	s.takes(s.n.redisReconnect, s.n.replicaReconnect, 0)
	h := &p.room.at[p.replica]
	if !h.follows {
		h.follows, h.sentAt, h.due = true, s.now-s.n.coalesce, false
		s.people.followed++
		s.count.snapshots++
		s.count.places += float64(len(p.room.line))
		s.takes(s.n.redisSnapshotPlace*float64(len(p.room.line)), 0, 0)
	}
	h.sockets++
}

func (s *simulation) disconnect(p *simSeller) {
	h := &p.room.at[p.replica]
	if h.sockets--; h.sockets > 0 {
		return
	}
	h.emptied = s.now
	s.after(s.n.linger, func() {
		if h.follows && h.sockets == 0 && h.emptied+s.n.linger <= s.now {
			h.follows = false
			s.people.followed--
		}
	})
}

// leave removes a waiter whose patience is over.
func (s *simulation) leave(p *simSeller) {
	i := slices.Index(p.room.line, p)
	if i < 0 {
		return
	}
	p.room.line = slices.Delete(p.room.line, i, i+1)
	s.people.waiting--
	p.gone = true
	s.disconnect(p)
	s.count.leaves++
	s.takes(s.n.redisLeave, s.n.replicaLeave, s.n.dbLeave)
	s.change(p.room)
}

func (s *simulation) grant(r *simRoom) {
	p := r.line[0]
	r.line = r.line[1:]
	r.holder = p
	s.people.waiting--
	s.people.holding++
	hold := s.chance(s.n.hold)
	if s.random.Float64() < s.n.codes {
		s.after(hold/2, func() {
			s.takes(s.n.redisCode, s.n.replicaCode, s.n.dbCode)
			s.write(1)
			s.publish(r)
		})
	}
	s.after(hold, func() { s.release(p) })
}

// release ends a lease and grants the next in the same step.
func (s *simulation) release(p *simSeller) {
	r := p.room
	r.holder = nil
	s.people.holding--
	s.count.turns++
	s.takes(s.n.redisHandoff, s.n.replicaHandoff, s.n.dbHandoff)
	p.gone = true
	s.disconnect(p)
	if len(r.line) > 0 {
		s.grant(r)
	}
	s.change(r)
}

// publish sends an event to every replica that follows the room.
func (s *simulation) publish(r *simRoom) {
	s.count.events++
	for i := range r.at {
		if r.at[i].follows {
			s.count.deliveries++
			s.takes(s.n.redisDeliver, s.n.replicaEvent, 0)
		}
	}
}

// change sends a change to the head of the line at once, and to the others when their replica's pause is
// over.
func (s *simulation) change(r *simRoom) {
	s.publish(r)
	s.write(s.inFront(r, -1))
	for i := range r.at {
		if h := &r.at[i]; h.follows && !h.due {
			h.due = true
			if wait := h.sentAt + s.n.coalesce - s.now; wait > 0 {
				s.after(wait, func() { s.send(r, i) })
			} else {
				s.send(r, i)
			}
		}
	}
}

func (s *simulation) send(r *simRoom, replica int) {
	h := &r.at[replica]
	h.due, h.sentAt = false, s.now
	s.write(h.sockets - s.inFront(r, replica))
}

func (s *simulation) write(frames int) {
	s.count.frames += float64(frames)
	s.takes(0, float64(frames)*s.n.replicaFrame, 0)
}

// inFront returns how many sockets get a change at once: the holder's and those of the first in line. replica
// is one replica, or -1 for all.
func (s *simulation) inFront(r *simRoom, replica int) (n int) {
	if h := r.holder; h != nil && (replica < 0 || h.replica == replica) {
		n++
	}
	for _, p := range r.line[:min(len(r.line), int(s.n.front))] {
		if replica < 0 || p.replica == replica {
			n++
		}
	}
	return n
}
