package mirror

import "github.com/waitroom/waitroom/room"

// Reason is why a mirror needs a snapshot.
type Reason string

// The reasons.
const (
	ReasonSubscribed Reason = "subscribed" // the room's channel is confirmed, for the first time or again
	ReasonGap        Reason = "gap"        // an event is missing or does not fit
	ReasonEpoch      Reason = "epoch"      // the room began anew
	ReasonBehind     Reason = "behind"     // the event of a version that the engine has does not come
	ReasonDrift      Reason = "drift"      // mirror and engine differ at the same version
	ReasonHistory    Reason = "history"    // another history of the server began: a restart or a promotion
)

// keepEvents is how many events are kept while a snapshot is under way.
const keepEvents = 4096

// reading is a snapshot under way.
type reading struct {
	running bool
	again   bool // the snapshot under way may be too old already
	events  []room.Event
}

// Reading reports whether a snapshot is under way.
func (m *Mirror[V]) Reading() bool { return m.reading.running }

// Read asks for a snapshot. True: take one, and Adopt it. False: one is under way, and another will follow.
func (m *Mirror[V]) Read() bool {
	if m.reading.running {
		m.reading.again = true
		return false
	}
	m.reading.running = true
	return true
}

// keep holds an event back until the snapshot under way has come.
func (m *Mirror[V]) keep(e *room.Event) {
	r := &m.reading
	if len(r.events) >= keepEvents {
		r.events, r.again = nil, true
		return
	}
	r.events = append(r.events, *e)
}

// Adopt takes the snapshot that Read has asked for, and returns the events that came meanwhile, to be applied
// now; every session is to be looked up. False when another snapshot is needed.
func (m *Mirror[V]) Adopt(s room.Snapshot) (events []room.Event, ok bool) {
	events = m.reading.events
	m.reading.events = nil
	if m.reading.again {
		m.reading.again = false // events that came until now are in the next one
		return nil, false
	}
	m.State.Adopt(s)
	m.reading.running = false
	m.Live = true
	m.Snapshots++
	return events, true
}

// Compare compares a view that the engine just gave with the state. It returns why a snapshot is needed, or
// wanted: the event of the view's version is on its way or lost, and is to be waited for a moment.
func (m *Mirror[V]) Compare(v *room.View) (needs Reason, wanted bool) {
	if !m.Live || m.reading.running {
		return "", false
	}
	switch f := m.OfHistory(Revision{v.Epoch, v.Version}, v.Lineage); {
	case f == EpochAfter:
		return ReasonEpoch, false
	case f == OtherHistory:
		return ReasonHistory, false
	case f == Same && v.Waiting != len(m.Line):
		return ReasonDrift, false
	default:
		return "", f.Unreached()
	}
}
