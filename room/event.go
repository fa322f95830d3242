package room

import (
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/room/wire"
)

// Event is what a change of a room publishes; see room/wire.
type (
	Event      = wire.Event
	EventLease = wire.Held
	Joined     = wire.Joined
	Missed     = wire.Missed
	Finished   = wire.Finished
	Note       = wire.Note
	Helping    = wire.Helping
)

// The kinds of help.
const (
	Extended     = wire.Extended
	Moved        = wire.Moved
	Assigned     = wire.Assigned
	JoinedDevice = wire.JoinedDevice
)

// viewOf returns the part of an event that this process remembers.
func viewOf(e *Event) View {
	v := View{Room: e.Room, Now: e.Now}
	if e.Lease != nil {
		v.Lease = &e.Lease.Lease
	}
	return v
}

// ParseEvent decodes an event. The error does not repeat the payload; it wraps ErrNewer for a later format.
func ParseEvent(payload string) (Event, error) {
	var e Event
	if err := json.Unmarshal([]byte(payload), &e); err != nil {
		return Event{}, fmt.Errorf("read event: %d bytes are not an event", len(payload))
	}
	if e.Format > Format {
		return Event{}, fmt.Errorf("read event: %w: it is of format %d", ErrNewer, e.Format)
	}
	return e, nil
}
