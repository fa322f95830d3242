package hub

import (
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// listener hands what Redis says to whom it concerns.
type listener struct{ h *Hub }

// Confirmed says that a channel is subscribed, from now on and without a gap.
func (t listener) Confirmed(m *redis.Subscription) {
	switch {
	case m.Kind == "psubscribe":
		t.h.overview.again()
	case m.Kind != "subscribe":
	case m.Channel == t.h.channels.signedOut:
		t.h.desks.check()
	case m.Channel == t.h.channels.joinedDevice:
	default:
		if l := t.h.hall(t.h.names.Room(m.Channel)); l != nil {
			l.confirmed()
		}
	}
}

// Message takes what was published.
func (t listener) Message(m *redis.Message) {
	switch {
	case m.Pattern != "":
		t.h.overview.touch(t.h.names.Room(m.Channel))
	case m.Channel == t.h.channels.signedOut:
		t.h.desks.signOut(m.Payload)
	case m.Channel == t.h.channels.joinedDevice:
		t.h.deviceJoined(m.Payload)
	case m.Channel == t.h.channels.replicas:
		t.h.replicas.message(m.Payload)
	default:
		if l := t.h.hall(t.h.names.Room(m.Channel)); l != nil {
			l.published(m.Payload)
		}
	}
}

// published takes an event of the room.
func (l *hall) published(payload string) {
	e, err := room.ParseEvent(payload)
	if err != nil {
		l.h.log.Error("event not understood", "room", l.id, "error", err)
		return
	}
	l.h.clock.Sample(e.Now)
	l.h.engine.Observe(l.id, &e)
	l.event(e)
}

// Expired says that a lock key has gone by itself.
func (t listener) Expired(id room.ID) {
	if l := t.h.hall(id); l != nil {
		t.h.spawn(l.expire)
	}
}

// Deleted says that a lock key was deleted.
func (t listener) Deleted(id room.ID) {
	if l := t.h.hall(id); l != nil {
		l.freed()
	}
}
