package mirror

import (
	"slices"

	"github.com/waitroom/waitroom/room/wire"
)

// Session is a session on this replica, with its owner's data about it.
type Session[V any] struct {
	ID       string
	Seat     Seat
	Revision // at which the seat was set; events since then are in it

	Here V

	Changes  uint32 // grows when the seat changes
	learned  uint32 // how many messages there ever were
	noticed  uint32 // how many notices there ever were
	messages []Message
	notices  []Notice
}

// take sets the seat as of a revision.
func (s *Session[V]) take(to Seat, at Revision) {
	s.Revision = at
	if s.Seat == to {
		return
	}
	if s.Seat.Ticket != to.Ticket {
		// drop the previous place's messages
		s.messages = slices.DeleteFunc(s.messages, func(m Message) bool { return !m.Late })
	}
	s.Seat = to
	s.Changes++
}

// Seat is a session's place, as a mirror has it.
type Seat struct {
	Status  wire.Status // "" = not known yet
	Outcome wire.Outcome
	Ticket  int64
	Fence   int64
	Rank    float64
	wire.Marks
}

// Live reports whether the place has not ended.
func (s Seat) Live() bool { return s.Status == wire.Waiting || s.Status == wire.Locked }

// seatOf returns the seat after a lookup. A live place that Redis does not have any more was lost; an ended
// place stays ended on its sockets until the session joins again.
func seatOf(p *wire.Place, before Seat) Seat {
	if p.Status == wire.Idle {
		switch {
		case before.Live():
			return Seat{Status: wire.Ended, Outcome: wire.Lost, Ticket: before.Ticket}
		case before.Status == wire.Ended:
			return before
		}
		return Seat{Status: wire.Idle}
	}
	to := Seat{Status: p.Status, Outcome: p.Outcome, Ticket: p.Ticket, Rank: p.Rank, Marks: p.Marks}
	if p.Status == wire.Locked {
		to.Fence = p.Fence
	}
	return to
}

// Message is an SMS with a number, so that each socket gets it once. A message that the session is only
// offered has neither text nor code.
type Message struct {
	wire.Message
	Offered bool
	Number  uint32
}

func (m *Message) is(other *Message) bool {
	return m.MessageID == other.MessageID && m.Fence == other.Fence && m.Offered == other.Offered
}

func has(list []Message, m *Message) bool {
	return slices.ContainsFunc(list, func(one Message) bool { return one.is(m) })
}

// messagesOf returns the messages of a seat, including offered ones.
func messagesOf(seat *wire.Seat) []Message {
	list := make([]Message, 0, len(seat.Messages)+len(seat.Offers))
	for _, m := range seat.Messages {
		list = append(list, Message{Message: m})
	}
	for _, o := range seat.Offers {
		list = append(list, Message{Message: wire.Message{MessageID: o.MessageID, ReceivedAt: o.ReceivedAt,
			ForgetAt: o.ForgetAt}, Offered: true})
	}
	return list
}

// learn takes over the session's messages, and drops withdrawn ones; it reports whether any is new.
func (s *Session[V]) learn(list []Message) bool {
	s.messages = slices.DeleteFunc(s.messages, func(m Message) bool { return !has(list, &m) })
	fresh := false
	for _, m := range list {
		if !has(s.messages, &m) {
			s.learned++
			m.Number = s.learned
			s.messages = append(s.messages, m)
			fresh = true
		}
	}
	return fresh
}

// forget drops the messages that may not be shown any more. Redis returns none as old as that, so none comes
// back.
func (s *Session[V]) forget(now int64) {
	if len(s.messages) == 0 {
		return
	}
	s.messages = slices.DeleteFunc(s.messages, func(m Message) bool { return m.ForgetAt <= now })
	if len(s.messages) == 0 {
		s.messages = nil
	}
}

// HasMessages reports whether there are messages, of which some may not be shown any more.
func (s *Session[V]) HasMessages() bool { return len(s.messages) > 0 }

// Messages returns the messages with a higher number that may still be shown at a time (unix ms).
func (s *Session[V]) Messages(after uint32, now int64) (list []Message) {
	for _, m := range s.messages {
		if m.Number > after && m.ForgetAt > now {
			list = append(list, m)
		}
	}
	return list
}

// noticesKept is the most notices that are kept for a session's sockets.
const noticesKept = 4

// Notice reports to one session what another person did for it. It is sent after the state of that change, or
// a later one.
type Notice struct {
	What wire.Helping
	Revision
	Number uint32
}

func (s *Session[V]) notice(what wire.Helping, at Revision) {
	s.noticed++
	s.notices = append(s.notices[max(0, len(s.notices)-noticesKept+1):len(s.notices):len(s.notices)],
		Notice{what, at, s.noticed})
}

// Notify adds a notice that belongs to no change of the room.
func (m *Mirror[V]) Notify(s *Session[V], what wire.Helping) { s.notice(what, m.Revision) }

// Noticed returns the number of the latest notice; 0 = there was none.
func (s *Session[V]) Noticed() uint32 { return s.noticed }

// Notices returns the notices after a number that a socket may get once it has the state of a revision.
func (s *Session[V]) Notices(after uint32, sent Revision) []Notice {
	return slices.DeleteFunc(slices.Clone(s.notices),
		func(n Notice) bool { return n.Number <= after || n.Compare(sent) > 0 })
}
