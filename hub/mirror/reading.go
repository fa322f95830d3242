package mirror

import "github.com/waitroom/waitroom/room/wire"

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

// keepEvents is the most events that are kept while a snapshot is read.
const keepEvents = 4096

// reading is a snapshot in progress.
type reading struct {
	running bool
	again   bool // the snapshot under way may be too old already
	events  []wire.Event
}

// Reading reports whether a snapshot is in progress.
func (m *Mirror[V]) Reading() bool { return m.reading.running }

// Read asks for a snapshot. If it returns true, the caller reads one and calls Adopt. If false, one is in
// progress, and another will follow.
func (m *Mirror[V]) Read() bool {
	if m.reading.running {
		m.reading.again = true
		return false
	}
	m.reading.running = true
	return true
}

// keep keeps an event until the snapshot in progress has arrived.
func (m *Mirror[V]) keep(e *wire.Event) {
	r := &m.reading
	if len(r.events) >= keepEvents {
		r.events, r.again = nil, true
		return
	}
	r.events = append(r.events, *e)
}

// Adopt takes over a snapshot, and returns the events that arrived meanwhile for the caller to apply. The
// caller then looks up every session. ok is false if another snapshot is needed.
func (m *Mirror[V]) Adopt(s wire.Snapshot) (events []wire.Event, ok bool) {
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

// Compare compares the state with a view that the engine has just returned. It returns why a snapshot is
// needed, or wanted = true if the event of the view's version has to be waited for a moment, since it is on
// its way or lost.
func (m *Mirror[V]) Compare(v *wire.View) (needs Reason, wanted bool) {
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
