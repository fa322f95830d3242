package mirror

import (
	"slices"

	"github.com/waitroom/waitroom/room/wire"
)

// Line has the ranks of waiters, in order. Removing the head costs nothing, a join appends.
type Line []float64

// Position returns a waiter's position, 1 = next; ok is false if no waiter has that rank.
func (l *Line) Position(rank float64) (p int, ok bool) {
	i, ok := slices.BinarySearch(*l, rank)
	return i + 1, ok
}

// insert inserts a rank in order; it returns false if the rank is there already.
func (l *Line) insert(rank float64) bool {
	if n := len(*l); n == 0 || (*l)[n-1] < rank {
		*l = append(*l, rank)
		return true
	}
	i, found := slices.BinarySearch(*l, rank)
	if found {
		return false
	}
	*l = slices.Insert(*l, i, rank)
	return true
}

// remove removes a rank; it returns false if the rank is not there.
func (l *Line) remove(rank float64) bool {
	i, found := slices.BinarySearch(*l, rank)
	switch {
	case !found:
		return false
	case i == 0:
		*l = (*l)[1:]
	default:
		*l = slices.Delete(*l, i, i+1)
	}
	return true
}

func (l *Line) join(j *wire.Joined, _ int64) bool { return l.insert(j.Rank) }

func (l *Line) move(from, to float64) bool { return l.remove(from) && l.insert(to) }

// Front returns the first n ranks, or fewer.
func (l *Line) Front(n int) Line { return (*l)[:min(n, len(*l))] }

// waiters are a line that events change: a State's ranks, or a Roster's sellers. Each method returns false if
// its change does not fit.
type waiters interface {
	join(j *wire.Joined, at int64) bool // puts a place into the line that began at a time
	remove(rank float64) bool
	move(from, to float64) bool
}

// follow changes a line as an event has changed the engine's; holder is the fence of the lease before. After
// false, the line is invalid.
func follow(l waiters, holder int64, e *wire.Event) bool {
	for i := range e.Missed {
		f := &e.Missed[i]
		if f.Fence != holder || !l.join(&f.Joined, f.JoinedAt) {
			return false
		}
		holder = 0
	}
	for i := range e.Ended {
		switch f := &e.Ended[i]; {
		case f.Rank != nil:
			if !l.remove(*f.Rank) {
				return false
			}
		case f.Fence != holder:
			return false // granted and ended within one change: the event does not have its rank
		}
	}
	// The new holder left the line before any waiter was moved; unless it joined only now.
	granted := e.Lease != nil && e.Lease.Rank != nil && !l.remove(*e.Lease.Rank)
	for i := range e.Joined {
		if !l.join(&e.Joined[i], e.Now) {
			return false
		}
	}
	for i := range e.Moved {
		if !l.move(e.Moved[i].From, e.Moved[i].Rank) {
			return false
		}
	}
	return !granted || l.remove(*e.Lease.Rank)
}
