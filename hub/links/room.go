package links

import (
	"slices"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// Socket is a socket that stands for another session's place.
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

// Add takes a socket in.
func (r *Room[S]) Add(s S) { r.sockets = append(r.sockets, s) }

// Remove takes a socket out.
func (r *Room[S]) Remove(s S) {
	r.sockets = slices.DeleteFunc(r.sockets, func(other S) bool { return other == s })
}

// Replaced are the sockets whose session has another place by now.
func (r *Room[S]) Replaced() []S {
	return r.which(func(k *Stand, _ string, seat *mirror.Seat) bool { return k.Replaced(seat) })
}

// Over are the sockets that an event ends the stand of: their session has another place, or their browser its
// own.
func (r *Room[S]) Over(e *room.Event) []S {
	return r.which(func(k *Stand, _ string, seat *mirror.Seat) bool {
		return k.Replaced(seat) ||
			k.Joined(e)
	})
}

// LetIn are the sockets of a browser that was let into another place, where the one that they stand for is
// over.
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

// Missed has all sockets checked: events may have been missed, and only the event of a join shows that a
// browser has a place of its own. Begin is true where the caller is to begin checking.
//
// The other session's place does not answer it. While that is live, its linked browsers can join no other;
// but the store may have lost the link and kept the place. Where it has ended, most browsers have had no
// place since.
func (r *Room[S]) Missed() (begin bool) {
	for _, s := range r.sockets {
		s.Stand().missed = true
	}
	return len(r.sockets) > 0 && !r.checking
}

// Checking records whether checking has begun.
func (r *Room[S]) Checking(begun bool) { r.checking = begun }

// Check is a batch of sockets, with the sessions to look up: of each socket its browser's own and the one
// that it stands for.
type Check[S Socket] struct {
	Sessions []string
	sockets  []S
}

// Next takes the next batch; false ends the checking.
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

// Over are the sockets whose stand is over, by the seats of the batch's sessions.
func (c Check[S]) Over(seats []room.Seat) (list []S) {
	for i, s := range c.sockets {
		if s.Stand().over(&seats[2*i], &seats[2*i+1]) {
			list = append(list, s)
		}
	}
	return list
}
