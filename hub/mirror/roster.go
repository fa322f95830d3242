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
		Paused: s.Paused, Support: s.Support, Holder: s.Holder, Line: s.Line}
	if s.Lease != nil {
		r.Lease = *s.Lease
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
		if !follow(r, r.Lease.Fence, e) {
			return Change{}, false
		}
		r.Revision, r.Hold, r.Paused = Revision{e.Epoch, e.Version}, e.Hold.Milliseconds(), e.Paused
		r.Support = e.Support
		r.Lease, r.Holder = wire.Lease{}, ""
		if e.Lease != nil {
			r.Lease, r.Holder = e.Lease.Lease, e.Lease.Seller
		}
		c.Left, c.Joined, c.Moved = partings(e), r.placings(withMissed(e)), r.placings(e.Moved)
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

// partings returns the tickets that left the line or the lock.
func partings(e *wire.Event) (list []Parting) {
	for i := range e.Missed {
		list = append(list, Parting{e.Missed[i].Ticket, wire.Unclaimed})
	}
	for i := range e.Ended {
		list = append(list, Parting{e.Ended[i].Ticket, e.Ended[i].Outcome})
	}
	return list
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

// find returns the index of a ticket in the line. Its rank is the ticket, unless it was moved.
func (r *Roster) find(ticket int64) (at int, ok bool) {
	if at, ok = r.at(float64(ticket)); ok && r.Line[at].Ticket == ticket {
		return at, true
	}
	at = slices.IndexFunc(r.Line, func(w wire.Waiter) bool { return w.Ticket == ticket })
	return at, at >= 0
}

func (r *Roster) at(rank float64) (int, bool) {
	return slices.BinarySearchFunc(r.Line, rank,
		func(w wire.Waiter, rank float64) int { return cmp.Compare(w.Rank, rank) })
}

func (r *Roster) join(j *wire.Joined, at int64) bool {
	return r.insert(wire.Waiter{Ticket: j.Ticket, Seller: j.Seller, Rank: j.Rank, JoinedAt: at})
}

func (r *Roster) insert(w wire.Waiter) bool {
	at, found := r.at(w.Rank)
	if !found {
		r.Line = slices.Insert(r.Line, at, w)
	}
	return !found
}

func (r *Roster) remove(rank float64) bool {
	_, ok := r.take(rank)
	return ok
}

func (r *Roster) move(from, to float64) bool {
	w, ok := r.take(from)
	w.Rank = to
	return ok && r.insert(w)
}

// take removes the waiter at a rank; ok is false if there is none.
func (r *Roster) take(rank float64) (w wire.Waiter, ok bool) {
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
	return w, true
}
