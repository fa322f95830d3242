package hub

import (
	"slices"
	"time"

	"github.com/waitroom/waitroom/room"
)

// smsKept is how long a message is shown again on reload (the contract's 10 minutes).
const smsKept = 10 * time.Minute

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

	asked    bool // waits to be looked up
	told     int  // how many messages there ever were here
	messages []message
}

// message is an SMS with its number on this replica, so that each socket is sent it once.
type message struct {
	room.Message
	number int
}

// take sets the seat as of a version; it reports whether that changed anything.
func (s *session) take(to seat, epoch, version int64) bool {
	s.epoch, s.asOf = epoch, version
	if s.seat == to {
		return false
	}
	if s.seat.ticket != to.ticket {
		s.messages = nil // they were for the place before
	}
	s.seat = to
	s.rev++
	return true
}

// learn takes the messages there are for the session's place, and forgets those that were withdrawn; it
// reports whether any is new.
func (s *session) learn(list []room.Message) bool {
	s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return !slices.ContainsFunc(list, m.is) })
	fresh := false
	for _, m := range list {
		if !s.knows(m) {
			s.told++
			s.messages = append(s.messages, message{Message: m, number: s.told})
			fresh = true
		}
	}
	return fresh
}

// forget drops the messages that have been shown for long enough. The store shows none as old as
// that, so none comes back.
func (s *session) forget(now int64) {
	if len(s.messages) == 0 {
		return
	}
	s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return m.ReceivedAt <= now-2*smsKept.Milliseconds() })
	if len(s.messages) == 0 {
		s.messages = nil
	}
}

func (s *session) knows(m room.Message) bool {
	return slices.ContainsFunc(s.messages, func(known message) bool { return known.is(m) })
}

func (m message) is(other room.Message) bool {
	return m.ReceivedAt == other.ReceivedAt && m.Text == other.Text
}

// after lists the messages with a higher number that may still be shown.
func (s *session) after(number int, now int64) []message {
	for i := range s.messages {
		if m := &s.messages[i]; m.number > number && m.ReceivedAt > now-smsKept.Milliseconds() {
			return s.messages[i:]
		}
	}
	return nil
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
