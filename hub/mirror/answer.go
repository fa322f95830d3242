package mirror

import "github.com/waitroom/waitroom/room/wire"

// Answer is what the caller has to do after the engine's answer about one session.
type Answer struct {
	Placed   bool // its seat was set: the answer was not too old
	Changed  bool // its state frame is another one
	Look     bool // it is to be looked up again
	Messages bool // there are new ones
}

// Answer handles the engine's answer about a session on this replica, at the revision of a view. It takes the
// messages only if the session still has their place.
func (m *Mirror[V]) Answer(s *Session[V], view *wire.View, found *wire.Seat) (a Answer) {
	m.place(s, Revision{view.Epoch, view.Version}, found, &a)
	if s.Seat.Ticket == found.Ticket && s.learn(messagesOf(found)) {
		if m.messaged == nil {
			m.messaged = make(map[*Session[V]]struct{})
		}
		m.messaged[s] = struct{}{}
		a.Messages = true
	}
	return a
}

func (m *Mirror[V]) place(s *Session[V], at Revision, found *wire.Seat, a *Answer) {
	known := m.Of(s.Revision)
	switch {
	case s.Of(at) == Known && known != Missed:
		return // an event was newer
	case !known.OtherEpoch() && m.Of(at) == EpochBefore:
		return // an answer from before the new epoch
	}
	m.Place(s, seatOf(&found.Place, s.Seat), at)
	a.Placed = true
	switch f := m.Of(at); {
	case m.Current(s):
		a.Changed = true
	case f.Unreached():
		m.ahead = append(m.ahead, s)
	case f == Missed || f == EpochBefore:
		a.Look = true // answered before the snapshot was: events between the two were missed
	}
}
