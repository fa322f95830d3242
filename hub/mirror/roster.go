package mirror

import (
	"cmp"
	"slices"

	"github.com/waitroom/waitroom/room/wire"
)

// Roster is support's mirror of a room: the line with its sellers. It applies the same events in the same
// order as State, which decides first whether an event applies. It is not safe for concurrent use.
type Roster struct {
	Revision
	Now    int64 // unix ms of Redis's clock when the room was so
	Hold   int64 // ms
	Paused bool

	Support *wire.BySupport // what support has set for the whole room
	Lease   wire.Lease      // zero while the lock is free
	Holder  string          // its seller
	Line    []wire.Waiter
	ranks   map[int64]float64 // of every ticket in the line
}

// Change is what an event did to a roster. Positions are those after it.
type Change struct {
	Left   []Parting
	Joined []Placing
	Moved  []Placing
	Away   []Absence
}

// Parting is a seller that has left the line or the lock.
type Parting struct {
	Ticket  int64
	Outcome wire.Outcome
}

// Placing is a waiter's new position.
type Placing struct {
	wire.Waiter
	Position int // from 1 = next
}

// Absence is since when a waiter has been away.
type Absence struct {
	Ticket int64
	Since  int64 // unix ms; 0 = it is back
}

// Nothing reports whether the line is unchanged.
func (c *Change) Nothing() bool { return len(c.Left)+len(c.Joined)+len(c.Moved)+len(c.Away) == 0 }

// Adopt replaces the roster by the engine's.
func (r *Roster) Adopt(s wire.Roster) {
	*r = Roster{Revision: Revision{s.Epoch, s.Version}, Now: s.Now, Hold: s.Hold.Milliseconds(),
		Paused: s.Paused, Support: s.Support, Holder: s.Holder, Line: s.Line,
		ranks: make(map[int64]float64, len(s.Line))}
	if s.Lease != nil {
		r.Lease = *s.Lease
	}
	for i := range s.Line {
		r.ranks[s.Line[i].Ticket] = s.Line[i].Rank
	}
}

// Equal reports whether both have the same content.
func (r *Roster) Equal(o *Roster) bool {
	return r.Revision == o.Revision && r.Holder == o.Holder && r.Lease == o.Lease && r.Paused == o.Paused &&
		r.Support.Equal(o.Support) && slices.Equal(r.Line, o.Line)
}

// Apply brings the roster to the event's version; of an event without a new version it takes the notes. ok is
// false if the event does not fit: the roster is then invalid until Adopt.
func (r *Roster) Apply(e *wire.Event) (c Change, ok bool) {
	if e.Changed {
		if !r.move(e, &c) {
			return Change{}, false
		}
		r.Revision, r.Hold, r.Paused = Revision{e.Epoch, e.Version}, e.Hold.Milliseconds(), e.Paused
		r.Support = e.Support
		r.Lease, r.Holder = wire.Lease{}, ""
		if e.Lease != nil {
			r.Lease, r.Holder = e.Lease.Lease, e.Lease.Seller
		}
		c.Joined, c.Moved = r.placings(withMissed(e)), r.placings(e.Moved)
	}
	r.Now = max(r.Now, e.Now)
	c.Away = r.absences(e)
	return c, true
}

// CatchUp applies those events that come after the roster's revision; it returns false if one is missing or
// does not fit.
func (r *Roster) CatchUp(events []wire.Event) bool {
	for i := range events {
		e := &events[i]
		switch f := r.Of(Revision{e.Epoch, e.Version}); {
		case f.OtherEpoch(), f == Known, f == Same && (e.Changed || e.Now < r.Now):
			continue
		case f == Ahead:
			return false
		}
		if _, ok := r.Apply(e); !ok {
			return false
		}
	}
	return true
}

// move changes the line in the order of State.move, and records the tickets that left.
func (r *Roster) move(e *wire.Event, c *Change) bool {
	holder := r.Lease.Fence
	for i := range e.Missed {
		m := &e.Missed[i]
		if m.Fence != holder || !r.insert(wire.Waiter{Ticket: m.Ticket, Seller: m.Seller, Rank: m.Rank,
			JoinedAt: m.JoinedAt}) {
			return false
		}
		holder = 0
		c.Left = append(c.Left, Parting{m.Ticket, wire.Unclaimed})
	}
	for i := range e.Ended {
		f := &e.Ended[i]
		switch {
		case f.Rank != nil:
			if _, ok := r.remove(*f.Rank); !ok {
				return false
			}
		case f.Fence != holder:
			return false
		}
		c.Left = append(c.Left, Parting{f.Ticket, f.Outcome})
	}
	granted := e.Lease != nil && e.Lease.Rank != nil
	if granted {
		if _, ok := r.remove(*e.Lease.Rank); ok {
			granted = false
		}
	}
	for i := range e.Joined {
		j := &e.Joined[i]
		if !r.insert(wire.Waiter{Ticket: j.Ticket, Seller: j.Seller, Rank: j.Rank, JoinedAt: e.Now}) {
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

// withMissed returns the sessions that the event puts into the line: they joined, or did not claim their
// lease.
func withMissed(e *wire.Event) []wire.Joined {
	if len(e.Missed) == 0 {
		return e.Joined
	}
	list := slices.Clone(e.Joined)
	for i := range e.Missed {
		list = append(list, e.Missed[i].Joined)
	}
	return list
}

// placings returns the new positions of the event's sessions that are still in line, in order.
func (r *Roster) placings(list []wire.Joined) []Placing {
	var all []Placing
	for i := range list {
		if at, ok := r.find(list[i].Ticket); ok {
			all = append(all, Placing{r.Line[at], at + 1})
		}
	}
	slices.SortFunc(all, func(a, b Placing) int { return cmp.Compare(a.Position, b.Position) })
	return all
}

// absences returns the waiters that the event makes away or present.
func (r *Roster) absences(e *wire.Event) (list []Absence) {
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
		if w := &r.Line[at]; w.AwaySince != since {
			w.AwaySince = since
			list = append(list, Absence{n.Ticket, since})
		}
	}
	return list
}

// find returns the index of a ticket in the line.
func (r *Roster) find(ticket int64) (at int, ok bool) {
	rank, ok := r.ranks[ticket]
	if !ok {
		return 0, false
	}
	return r.at(rank)
}

func (r *Roster) at(rank float64) (int, bool) {
	return slices.BinarySearchFunc(r.Line, rank,
		func(w wire.Waiter, rank float64) int { return cmp.Compare(w.Rank, rank) })
}

// insert inserts a waiter in order; it returns false if another one has its rank.
func (r *Roster) insert(w wire.Waiter) bool {
	at, found := r.at(w.Rank)
	if found {
		return false
	}
	r.Line = slices.Insert(r.Line, at, w)
	r.ranks[w.Ticket] = w.Rank
	return true
}

// remove removes the waiter at a rank; it returns false if there is none.
func (r *Roster) remove(rank float64) (w wire.Waiter, ok bool) {
	at, ok := r.at(rank)
	if !ok {
		return w, false
	}
	w = r.Line[at]
	if at == 0 {
		r.Line = r.Line[1:]
	} else {
		r.Line = slices.Delete(r.Line, at, at+1)
	}
	delete(r.ranks, w.Ticket)
	return w, true
}
