package hub

import (
	"time"

	"github.com/waitroom/waitroom/room"
)

// mirror is what a replica knows of a room, at one version. It is not safe for concurrent use.
type mirror struct {
	epoch, version int64
	lineage        string
	now            int64 // unix ms of Redis's clock when the room was so
	line           line
	lease          room.Lease // zero while the lock is free
	hold, spread   time.Duration
	paused         bool
}

// verdict is what an event was to a mirror.
type verdict int

const (
	applied verdict = iota // the mirror is at the event's version now
	noted                  // nothing but notes
	old                    // the mirror has it already
	gap                    // events are missing, or do not fit: take a snapshot
)

// apply brings the mirror from the version before to the event's, if it is that one. After gap the
// mirror is not to be used until adopt.
func (m *mirror) apply(e *room.Event) verdict {
	switch {
	case e.Epoch != m.epoch:
		if m.epoch != 0 || e.Version != 1 || !e.Changed {
			return gap
		}
		// The room was never used: its first change starts from nothing.
	case e.Lineage != m.lineage:
		return gap // another history of the server: the last writes may be missing
	case !e.Changed && e.Version == m.version:
		return noted
	case e.Version <= m.version:
		return old
	case e.Version != m.version+1 || !e.Changed:
		return gap
	}
	if e.Reset || !m.move(e) {
		return gap
	}
	m.epoch, m.version, m.lineage, m.now = e.Epoch, e.Version, e.Lineage, e.Now
	m.hold, m.spread = time.Duration(e.Hold*float64(time.Millisecond)), time.Duration(e.Spread*float64(time.Millisecond))
	m.paused = e.Paused
	m.lease = room.Lease{}
	if e.Lease != nil {
		m.lease = e.Lease.Lease
	}
	return applied
}

// move moves the line; false when the event does not fit to it.
func (m *mirror) move(e *room.Event) bool {
	fits := true
	for i := range e.Ended {
		switch f := &e.Ended[i]; {
		case f.Rank != nil:
			fits = m.line.remove(*f.Rank) && fits
		case f.Fence != m.lease.Fence:
			return false // granted and ended within one change: the event does not say whence
		}
	}
	// Who was granted the lock left the line before anybody was moved; unless it joined only now.
	granted := e.Lease != nil && e.Lease.Rank != nil
	if granted && m.line.remove(*e.Lease.Rank) {
		granted = false
	}
	for i := range e.Joined {
		fits = m.line.insert(e.Joined[i].Rank) && fits
	}
	for i := range e.Moved {
		fits = m.line.remove(e.Moved[i].From) && m.line.insert(e.Moved[i].Rank) && fits
	}
	if granted {
		fits = m.line.remove(*e.Lease.Rank) && fits
	}
	return fits
}

// adopt takes a snapshot for the truth.
func (m *mirror) adopt(s room.Snapshot) {
	*m = mirror{epoch: s.Epoch, version: s.Version, lineage: s.Lineage, now: s.Now, line: s.Ranks, hold: s.Hold, spread: s.Spread, paused: s.Paused}
	if s.Lease != nil {
		m.lease = *s.Lease
	}
}

// held reports whether somebody has the lock.
func (m *mirror) held() bool { return m.lease.Fence != 0 }

// waits reckons the waits of position p at unix millisecond now.
func (m *mirror) waits(p int, now int64, lease time.Duration) (room.Waits, bool) {
	v := room.View{Hold: m.hold, Spread: m.spread, Paused: m.paused}
	if m.held() {
		v.Lease = &m.lease
	}
	return v.WaitsAt(p, now, lease)
}
