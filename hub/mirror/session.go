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
