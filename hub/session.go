package hub

import (
	"slices"

	"github.com/waitroom/waitroom/room"
)

// seat is how a session stands.
type seat struct {
	status  room.Status // "" = not known yet
	outcome room.Outcome
	ticket  int64
	fence   int64
	rank    float64
}

func (s seat) live() bool { return s.status == room.Waiting || s.status == room.Locked }

// session is a session that has sockets here. The hall's lock guards it.
type session struct {
	id    string
	conns []*conn

	seat        seat
	epoch, asOf int64  // at which version the seat was told; events since then are in it
	rev         uint32 // grows when the seat changes

	asked    bool      // waits to be looked up
	coming   bool      // waits to be told to the engine
	told     room.Host // the number under which the engine was told that it is here; 0 = it was not
	probed   int64     // when its sockets were asked and have not answered as far as was looked, ns of the hub's clock; 0 = not asked
	left     int64     // when the latest socket that has left was last heard of, likewise
	learned  int       // how many messages there ever were here
	messages []message

	noticed int // how many notices there ever were here
	notices []notice
}

// message is an SMS with its number on this replica, so that each socket is sent it once. One that is only offered has neither
// text nor code.
type message struct {
	room.Message
	offered bool
	number  int
}

// shownIn lists all that a session is shown.
func shownIn(seat room.Seat) []message {
	list := make([]message, 0, len(seat.Messages)+len(seat.Offers))
	for _, m := range seat.Messages {
		list = append(list, message{Message: m})
	}
	for _, o := range seat.Offers {
		list = append(list, message{Message: room.Message{MessageID: o.MessageID, ReceivedAt: o.ReceivedAt, ForgetAt: o.ForgetAt}, offered: true})
	}
	return list
}

// take sets the seat as of a version; it reports whether that changed anything.
func (s *session) take(to seat, epoch, version int64) bool {
	s.epoch, s.asOf = epoch, version
	if s.seat == to {
		return false
	}
	if s.seat.ticket != to.ticket {
		s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return !m.Late }) // they were for the place before
	}
	s.seat = to
	s.rev++
	return true
}

// learn takes the messages there are for the session, and forgets those that were withdrawn; it reports whether any is new.
func (s *session) learn(list []message) bool {
	s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return !slices.ContainsFunc(list, m.is) })
	fresh := false
	for _, m := range list {
		if !slices.ContainsFunc(s.messages, m.is) {
			s.learned++
			m.number = s.learned
			s.messages = append(s.messages, m)
			fresh = true
		}
	}
	return fresh
}

// forget drops the messages that have been shown for long enough. The store shows none as old as that, so none comes back.
func (s *session) forget(now int64) {
	if len(s.messages) == 0 {
		return
	}
	s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return m.ForgetAt <= now })
	if len(s.messages) == 0 {
		s.messages = nil
	}
}

func (m message) is(other message) bool {
	return m.MessageID == other.MessageID && m.Fence == other.Fence && m.offered == other.offered
}

// after lists the messages with a higher number that may still be shown.
func (s *session) after(number int, now int64) (list []message) {
	for _, m := range s.messages {
		if m.number > number && m.ForgetAt > now {
			list = append(list, m)
		}
	}
	return list
}

// seatOf is what a look found. A place that the store does not know any more although it was live
// was lost; one that had ended stays ended on its sockets until the session joins again.
func seatOf(p room.Place, before seat) seat {
	if p.Status == room.Idle {
		switch {
		case before.live():
			return seat{status: room.Ended, outcome: room.Lost, ticket: before.ticket}
		case before.status == room.Ended:
			return before
		}
		return seat{status: room.Idle}
	}
	to := seat{status: p.Status, outcome: p.Outcome, ticket: p.Ticket, rank: p.Rank}
	if p.Status == room.Locked {
		to.fence = p.Fence
	}
	return to
}
