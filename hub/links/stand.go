// Package links knows the sockets of a room that stand for the place of another session, and when they no
// longer do.
package links

import (
	"slices"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// Link is a place that a browser has joined by a link.
type Link struct {
	Session string // that has the place
	Ticket  int64  // of the place
	Fence   int64  // of the place's lease; 0 = it has had none yet
}

// Stand is how a socket acts for a Link's place.
type Stand struct {
	ticket int64
	own    string // the browser's own session
	had    int64  // the ticket of the browser's own place before
	missed bool   // events about the browser may have been missed, see Room.Missed
	fence  int64  // of the place's lease; only the socket's writer uses it
}

// NewStand makes the socket of a browser act for a link's place. had is the ticket that the browser's own
// session had before, 0 for none.
func NewStand(as Link, own string, had int64) *Stand {
	return &Stand{ticket: as.Ticket, own: own, had: had, fence: as.Fence}
}

// Own returns the browser's own session.
func (k *Stand) Own() string { return k.own }

// Replaced reports whether the session has another place by now.
func (k *Stand) Replaced(place *mirror.Seat) bool {
	return place.Status != "" && place.Ticket != k.ticket
}

// Joined reports whether the browser has a place of its own by this event.
func (k *Stand) Joined(e *room.Event) bool {
	return slices.ContainsFunc(e.Joined, func(j room.Joined) bool { return j.Session == k.own })
}

// Held records the lease of the place. It does nothing for a socket that acts for its own session.
func (k *Stand) Held(fence int64) {
	if k != nil && fence != 0 {
		k.fence = fence
	}
}

// Messages returns the messages that the socket may show: those of this place, not of an earlier one of the
// same session.
func (k *Stand) Messages(list []mirror.Message) []mirror.Message {
	if k == nil {
		return list
	}
	return slices.DeleteFunc(list, func(m mirror.Message) bool { return !m.Offered && m.Fence != k.fence })
}

// over reports whether the browser has a place of its own. Once the linked place has ended, it is enough that
// the browser had one with a later ticket than the linked place and than its own place before.
func (k *Stand) over(own, place *room.Seat) bool {
	return own.Live() || own.Ticket > max(k.ticket, k.had) && !place.Live()
}
