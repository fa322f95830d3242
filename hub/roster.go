package hub

import (
	"cmp"
	"slices"
	"time"

	"github.com/waitroom/waitroom/room"
)

// roster is support's mirror of a room: the line with who stands in it. It follows the same events in the same order as the mirror,
// which says first what an event is. It is not safe for concurrent use.
type roster struct {
	epoch, version int64
	now            int64 // unix ms of Redis's clock when the room was so
	hold           int64 // ms
	paused         bool
	lease          room.Lease // zero while the lock is free
	holder         string     // its seller
	line           []room.Waiter
	ranks          map[int64]float64 // of every ticket in the line
}

// change is what an event did to a roster. Positions are those after it.
type change struct {
	left   []parting
	joined []placing
	moved  []placing
	away   []absence
}

type parting struct {
	ticket  int64
	outcome room.Outcome
}

type placing struct {
	room.Waiter
	position int // from 1 = next
}

type absence struct {
	ticket int64
	since  int64 // unix ms; 0 = it is back
}

func (c *change) nothing() bool { return len(c.left)+len(c.joined)+len(c.moved)+len(c.away) == 0 }

// adopt takes what the engine says for the truth.
func (r *roster) adopt(s room.Roster) {
	*r = roster{epoch: s.Epoch, version: s.Version, now: s.Now, hold: s.Hold.Milliseconds(), paused: s.Paused, holder: s.Holder, line: s.Line,
		ranks: make(map[int64]float64, len(s.Line))}
	if s.Lease != nil {
		r.lease = *s.Lease
	}
	for i := range s.Line {
		r.ranks[s.Line[i].Ticket] = s.Line[i].Rank
	}
}

// equal reports whether both show the same.
func (r *roster) equal(o *roster) bool {
	return r.epoch == o.epoch && r.version == o.version && r.holder == o.holder && r.lease == o.lease && r.paused == o.paused &&
		slices.Equal(r.line, o.line)
}

// apply brings the roster from the version before to the event's; of an event that only notes something, it takes the notes. False when
// the event does not fit: the roster is not to be used until adopt.
func (r *roster) apply(e *room.Event) (c change, ok bool) {
	if e.Changed {
		if !r.move(e, &c) {
			return change{}, false
		}
		r.epoch, r.version, r.hold, r.paused = e.Epoch, e.Version, time.Duration(e.Hold*float64(time.Millisecond)).Milliseconds(), e.Paused
		r.lease, r.holder = room.Lease{}, ""
		if e.Lease != nil {
			r.lease, r.holder = e.Lease.Lease, e.Lease.Seller
		}
		c.joined, c.moved = r.placings(e.Joined), r.placings(e.Moved)
	}
	r.now = max(r.now, e.Now)
	c.away = r.absences(e)
	return c, true
}

// move moves the line in the order of mirror.move, and notes who left.
func (r *roster) move(e *room.Event, c *change) bool {
	for i := range e.Ended {
		f := &e.Ended[i]
		switch {
		case f.Rank != nil:
			if _, ok := r.remove(*f.Rank); !ok {
				return false
			}
		case f.Fence != r.lease.Fence:
			return false
		}
		c.left = append(c.left, parting{f.Ticket, f.Outcome})
	}
	granted := e.Lease != nil && e.Lease.Rank != nil
	if granted {
		if _, ok := r.remove(*e.Lease.Rank); ok {
			granted = false
		}
	}
	for i := range e.Joined {
		j := &e.Joined[i]
		if !r.insert(room.Waiter{Ticket: j.Ticket, Seller: j.Seller, Rank: j.Rank, JoinedAt: e.Now}) {
			return false
		}
	}
	for i := range e.Moved {
		w, ok := r.remove(e.Moved[i].From)
		w.Rank = e.Moved[i].Rank
		if !ok || !r.insert(w) {
			return false
		}
	}
	if granted {
		_, granted = r.remove(*e.Lease.Rank)
		return granted
	}
	return true
}

// placings are where the event's own stand now, those that stand in the line still, in order.
func (r *roster) placings(list []room.Joined) []placing {
	var all []placing
	for i := range list {
		if at, ok := r.find(list[i].Ticket); ok {
			all = append(all, placing{r.line[at], at + 1})
		}
	}
	slices.SortFunc(all, func(a, b placing) int { return cmp.Compare(a.position, b.position) })
	return all
}

// absences takes who of the line is away now, or back.
func (r *roster) absences(e *room.Event) (list []absence) {
	for i := range e.Notes {
		n := &e.Notes[i]
		at, ok := r.find(n.Ticket)
		if n.Away == nil || !ok {
			continue
		}
		since := int64(0)
		if *n.Away {
			since = cmp.Or(n.Since, e.Now)
		}
		if w := &r.line[at]; w.AwaySince != since {
			w.AwaySince = since
			list = append(list, absence{n.Ticket, since})
		}
	}
	return list
}

// find is where a ticket stands in the line, from 0.
func (r *roster) find(ticket int64) (at int, ok bool) {
	rank, ok := r.ranks[ticket]
	if !ok {
		return 0, false
	}
	return r.at(rank)
}

func (r *roster) at(rank float64) (int, bool) {
	return slices.BinarySearchFunc(r.line, rank, func(w room.Waiter, rank float64) int { return cmp.Compare(w.Rank, rank) })
}

// insert puts a waiter in its place; false where another has its rank.
func (r *roster) insert(w room.Waiter) bool {
	at, found := r.at(w.Rank)
	if found {
		return false
	}
	r.line = slices.Insert(r.line, at, w)
	r.ranks[w.Ticket] = w.Rank
	return true
}

// remove takes out who has a rank; false where nobody has.
func (r *roster) remove(rank float64) (w room.Waiter, ok bool) {
	at, ok := r.at(rank)
	if !ok {
		return w, false
	}
	w = r.line[at]
	if at == 0 {
		r.line = r.line[1:]
	} else {
		r.line = slices.Delete(r.line, at, at+1)
	}
	delete(r.ranks, w.Ticket)
	return w, true
}
