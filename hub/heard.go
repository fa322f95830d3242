package hub

import (
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// listener passes Redis's messages on to the part that they concern.
type listener struct{ h *Hub }

// Confirmed handles the confirmation of a subscription, from which on no message is missed.
func (t listener) Confirmed(m *redis.Subscription) {
	switch {
	case t.h.desk.Confirmed(m):
	case m.Kind != "subscribe" || m.Channel == t.h.joinedDevice:
	default:
		if l := t.h.room(t.h.names.Room(m.Channel)); l != nil {
			l.snapshots.confirmed()
		}
	}
}

// Message handles a published message. It ignores an empty one, with which waitroom doctor tries its rights.
func (t listener) Message(m *redis.Message) {
	switch {
	case m.Payload == "":
	case t.h.desk.Message(m):
	case m.Channel == t.h.joinedDevice:
		t.h.deviceJoined(m.Payload)
	default:
		if l := t.h.room(t.h.names.Room(m.Channel)); l != nil {
			l.published(m.Payload)
		}
	}
}

// published handles an event of the room.
func (l *localRoom) published(payload string) {
	e, err := room.ParseEvent(payload)
	if err != nil {
		l.h.log.Error("event not understood", "room", l.id, "error", err)
		return
	}
	l.h.engine.Observe(l.id, &e)
	l.event(e)
}

// Expired handles an expired lock key.
func (t listener) Expired(id room.ID) {
	if l := t.h.room(id); l != nil {
		t.h.spawn(l.expiry.expire)
	}
}

// Deleted handles a deleted lock key.
func (t listener) Deleted(id room.ID) {
	if l := t.h.room(id); l != nil {
		l.expiry.freed()
	}
}
