// Package mirror is a replica's copy of a room: its state, and the seats of the sessions that are here. It
// calls nothing and has no clock, no lock and no goroutine: it takes events, snapshots and answers, and
// returns what they call for.
package mirror

import (
	"iter"
	"maps"

	"github.com/waitroom/waitroom/room/wire"
)

// Mirror is a room with the sessions on this replica. V is its owner's data about each. It is not safe for
// concurrent use.
type Mirror[V any] struct {
	State
	Live      bool   // a snapshot was taken, and nothing is missing since
	Snapshots uint32 // how often a snapshot replaced the state

	sessions map[string]*Session[V]
	byRank   map[float64]*Session[V]
	ahead    []*Session[V]            // answered at a revision that the state has not reached yet
	messaged map[*Session[V]]struct{} // have messages
	reading  reading
	effects  Effects[V]
}

// Effects is what the caller has to do after an event, in this order. It is valid until the next event.
type Effects[V any] struct {
	Verdict  Verdict
	Noticed  []*Session[V] // have a notice
	Judging  []*Session[V] // their turn ends by a message that the ledger is asked about
	Snapshot Reason        // why a snapshot is needed, and then the fields below are zero; "" = it is not
	Anew     bool          // an epoch has begun: presence is to be reported again
	Seats    []*Session[V] // sessions whose seat was set, or who asked for a code
	Caught   []*Session[V] // sessions whose answer was ahead, and is not any more
	All      bool          // every socket is to be sent the change, the head of the line at once
	Expires  bool          // the lease or its end may be another one
	Judged   []*Session[V] // the ledger has judged their message; they are among Look, too
	Look     []*Session[V] // to be looked up
	Away     []int64       // tickets that the engine takes for away
}

// New returns a mirror of a room without any state.
func New[V any]() Mirror[V] {
	return Mirror[V]{sessions: make(map[string]*Session[V]), byRank: make(map[float64]*Session[V])}
}

// Session returns a session on this replica; nil = there is none.
func (m *Mirror[V]) Session(id string) *Session[V] { return m.sessions[id] }

// Sessions returns all sessions on this replica, in no order.
func (m *Mirror[V]) Sessions() iter.Seq[*Session[V]] { return maps.Values(m.sessions) }

// AtRank returns the session on this replica that waits at a rank; nil = none.
func (m *Mirror[V]) AtRank(rank float64) *Session[V] { return m.byRank[rank] }

// Waiter returns the session on this replica that waits with a ticket; nil = none.
func (m *Mirror[V]) Waiter(ticket int64) *Session[V] {
	if s := m.byRank[float64(ticket)]; s != nil && s.Seat.Ticket == ticket {
		return s
	}
	for _, s := range m.sessions { // it was moved
		if s.Seat.Status == wire.Waiting && s.Seat.Ticket == ticket {
			return s
		}
	}
	return nil
}

// Enter adds a session, which the caller has to look up.
func (m *Mirror[V]) Enter(id string) *Session[V] {
	s := &Session[V]{ID: string([]byte(id)), Revision: Revision{Epoch: -1}}
	m.sessions[s.ID] = s
	return s
}

// Leave removes a session.
func (m *Mirror[V]) Leave(s *Session[V]) {
	m.Place(s, Seat{}, s.Revision)
	delete(m.sessions, s.ID)
	delete(m.messaged, s)
}

// Place sets a seat as of a revision.
func (m *Mirror[V]) Place(s *Session[V], to Seat, at Revision) {
	if s.Seat.Status == wire.Waiting && m.byRank[s.Seat.Rank] == s {
		delete(m.byRank, s.Seat.Rank)
	}
	if to.Status == wire.Waiting {
		m.byRank[to.Rank] = s
	}
	s.take(to, at)
}

// Current reports whether the mirror knows a session's place as it is now: it knows the state at which the
// seat was set, and every event since.
func (m *Mirror[V]) Current(s *Session[V]) bool {
	return s.Seat.Status != "" && m.Of(s.Revision).Reached()
}

// Forget drops the messages that may not be shown any more at a time (unix ms).
func (m *Mirror[V]) Forget(now int64) {
	for s := range m.messaged {
		if s.forget(now); len(s.messages) == 0 {
			delete(m.messaged, s)
		}
	}
}
