package links

import (
	"slices"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// Socket is a socket that acts for another session's place.
type Socket interface {
	comparable
	Stand() *Stand
	Place() (session string, seat *mirror.Seat) // of that session
}

// Room has the linked sockets of a room. The room's lock guards it.
type Room[S Socket] struct {
	sockets  []S
	checking bool
}

// Add adds a socket.
func (r *Room[S]) Add(s S) { r.sockets = append(r.sockets, s) }

// Remove removes a socket.
func (r *Room[S]) Remove(s S) {
	r.sockets = slices.DeleteFunc(r.sockets, func(other S) bool { return other == s })
}

// Replaced returns the sockets whose session has another place by now.
func (r *Room[S]) Replaced() []S {
	return r.which(func(k *Stand, _ string, seat *mirror.Seat) bool { return k.Replaced(seat) })
}

// Over returns the sockets that an event makes stale: their session has another place, or their browser has a
// place of its own.
func (r *Room[S]) Over(e *room.Event) []S {
	return r.which(func(k *Stand, _ string, seat *mirror.Seat) bool {
		return k.Replaced(seat) ||
			k.Joined(e)
	})
}

// LetIn returns the sockets of a browser that joined another place by a link, if the place that they act for
// has ended.
func (r *Room[S]) LetIn(own string) []S {
	return r.which(func(k *Stand, _ string, seat *mirror.Seat) bool { return k.own == own && !seat.Live() })
}

func (r *Room[S]) which(is func(k *Stand, session string, seat *mirror.Seat) bool) (list []S) {
	for _, s := range r.sockets {
		session, seat := s.Place()
		if is(s.Stand(), session, seat) {
			list = append(list, s)
		}
	}
	return list
}

// Missed marks all sockets to be checked, after events that may have been missed. Only the event of a join
// shows that a browser has a place of its own. begin is true if the caller has to start checking.
//
// The linked place's state does not show that. While the place is live, its browsers can join no other one,
// but Redis may have lost the link and kept the place. Once it has ended, a browser may have had a place of
// its own since, but most have not.
func (r *Room[S]) Missed() (begin bool) {
	for _, s := range r.sockets {
		s.Stand().missed = true
	}
	return len(r.sockets) > 0 && !r.checking
}

// Checking records whether checking has begun.
func (r *Room[S]) Checking(begun bool) { r.checking = begun }

// Check is a batch of sockets with the sessions to look up: for each socket its browser's own session, and
// the one that it acts for.
type Check[S Socket] struct {
	Sessions []string
	sockets  []S
}

// Next takes the next sockets to check; ok is false if all are checked.
func (r *Room[S]) Next() (c Check[S], ok bool) {
	for _, s := range r.sockets {
		if k := s.Stand(); k.missed && len(c.Sessions)+2 <= room.LookBatch {
			k.missed = false
			session, _ := s.Place()
			c.sockets, c.Sessions = append(c.sockets, s), append(c.Sessions, k.own, session)
		}
	}
	r.checking = len(c.sockets) > 0
	return c, r.checking
}

// Return puts back a batch that could not be looked up.
func (c Check[S]) Return() {
	for _, s := range c.sockets {
		s.Stand().missed = true
	}
}

// Over returns the batch's sockets that are stale, by the seats of its sessions.
func (c Check[S]) Over(seats []room.Seat) (list []S) {
	for i, s := range c.sockets {
		if s.Stand().over(&seats[2*i], &seats[2*i+1]) {
			list = append(list, s)
		}
	}
	return list
}
