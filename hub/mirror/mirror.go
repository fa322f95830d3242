// Package mirror is what a replica knows of a room: how it is, and how the sessions stand that are here. It
// asks nobody anything and has no clock, no lock and no goroutine: it is told events, snapshots and answers,
// and says what they call for.
package mirror

import (
	"iter"
	"maps"

	"github.com/waitroom/waitroom/room"
)

// Mirror is a room with the sessions that are here. V is what its owner keeps of each. It is not safe for
// concurrent use.
type Mirror[V any] struct {
	State
	Live      bool   // a snapshot was taken, and nothing is missing since
	Snapshots uint32 // how often a snapshot replaced the state

	sessions map[string]*Session[V]
	byRank   map[float64]*Session[V]
	ahead    []*Session[V] // answered at a revision that the state has not reached yet
	shown    map[*Session[V]]struct{}
	reading  reading
	effects  Effects[V]
}

// Effects is what an event calls for, in this order. It is good until the next event.
type Effects[V any] struct {
	Verdict  Verdict
	Noticed  []*Session[V] // have a notice
	Judging  []*Session[V] // their turn ends by a message that the ledger is asked about
	Snapshot Reason        // why a snapshot is needed; "" = none is, and else there is nothing more
	Anew     bool          // an epoch has begun: presence is to be told again
	State    bool          // what is told of the room is another text
	Placed   []Placed[V]   // whose seat was told
	Seats    []*Session[V] // whose own frame is another one
	Front    bool          // the head of the line is to be told at once
	Caught   []*Session[V] // whose answer was ahead, and is not any more
	All      bool          // everybody is to be told
	Expires  bool          // the lease or its end may be another one
	Judged   []*Session[V] // the ledger has said its word; they are among Look, too
	Look     []*Session[V] // to be looked up
	Away     []int64       // tickets that the engine holds for away
}

// Placed is a session whose seat was told.
type Placed[V any] struct {
	*Session[V]
	Again bool // under another ticket
}

// New makes a mirror of a room of which nothing is known.
func New[V any]() Mirror[V] {
	return Mirror[V]{sessions: make(map[string]*Session[V]), byRank: make(map[float64]*Session[V])}
}

// Session finds a session that is here; nil = it is not.
func (m *Mirror[V]) Session(id string) *Session[V] { return m.sessions[id] }

// Sessions are those that are here, in no order.
func (m *Mirror[V]) Sessions() iter.Seq[*Session[V]] { return maps.Values(m.sessions) }

// AtRank finds the session that is here and waits at a rank; nil = none.
func (m *Mirror[V]) AtRank(rank float64) *Session[V] { return m.byRank[rank] }

// Waiter finds the session that is here and waits with a ticket; nil = none.
func (m *Mirror[V]) Waiter(ticket int64) *Session[V] {
	if s := m.byRank[float64(ticket)]; s != nil && s.Seat.Ticket == ticket {
		return s
	}
	for _, s := range m.sessions { // it was moved
		if s.Seat.Status == room.Waiting && s.Seat.Ticket == ticket {
			return s
		}
	}
	return nil
}

// Enter adds a session that was not here. It has to be looked up.
func (m *Mirror[V]) Enter(id string) *Session[V] {
	s := &Session[V]{ID: string([]byte(id)), Revision: Revision{Epoch: -1}}
	m.sessions[s.ID] = s
	return s
}

// Leave takes a session out.
func (m *Mirror[V]) Leave(s *Session[V]) {
	m.Place(s, Seat{}, s.Revision)
	delete(m.sessions, s.ID)
	delete(m.shown, s)
}

// Place sets a seat as of a revision.
func (m *Mirror[V]) Place(s *Session[V], to Seat, told Revision) Placed[V] {
	if s.Seat.Status == room.Waiting && m.byRank[s.Seat.Rank] == s {
		delete(m.byRank, s.Seat.Rank)
	}
	if to.Status == room.Waiting {
		m.byRank[to.Rank] = s
	}
	again := s.Seat.Ticket != to.Ticket
	s.take(to, told)
	return Placed[V]{s, again}
}

// Current reports whether a seat is as the state is: told at a revision that the state has reached,
// and no event since then was missed.
func (m *Mirror[V]) Current(s *Session[V]) bool {
	return s.Seat.Status != "" && m.Of(s.Revision).Reached()
}

// Forget drops the messages that have been shown for long enough at unix millisecond now.
func (m *Mirror[V]) Forget(now int64) {
	for s := range m.shown {
		if s.forget(now); len(s.messages) == 0 {
			delete(m.shown, s)
		}
	}
}
