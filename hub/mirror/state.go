package mirror

import (
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// State is a room's state at one revision. It is not safe for concurrent use.
type State struct {
	Span
	Line  Line
	Lease wire.Lease // zero while the lock is free
	Room  wire.Room
}

// Verdict is how an event relates to a mirror.
type Verdict int

// The verdicts.
const (
	Applied  Verdict = iota // the state is of the event's version now
	Noted                   // nothing but notes
	Old                     // the state has it already
	Gap                     // events are missing, or do not fit: take a snapshot
	Kept                    // held until the snapshot under way has come
	Unwanted                // nothing is known of the room, and nothing asked for
)

// Apply brings the state to the event's version if that is the next one. After Gap the state is invalid until
// Adopt; its Span still has the known versions.
func (m *State) Apply(e *wire.Event) Verdict {
	revision := Revision{e.Epoch, e.Version}
	switch f := m.OfHistory(revision, e.Lineage); {
	case f.OtherEpoch():
		if m.Epoch != 0 || e.Version != 1 || !e.Changed {
			return Gap
		}
		// The room was never used: its first change starts from nothing.
	case f == OtherHistory:
		return Gap
	case f == Same && !e.Changed:
		return Noted
	case f == Missed || f.Reached():
		return Old
	case f != Next || !e.Changed:
		return Gap
	}
	if e.Reset || !follow(&m.Line, m.Lease.Fence, e) {
		return Gap
	}
	if e.Epoch != m.Epoch {
		m.Base = 0
	}
	m.Revision, m.Lineage = revision, e.Lineage
	m.Room = e.Room
	m.Lease = wire.Lease{}
	if e.Lease != nil {
		m.Lease = e.Lease.Lease
	}
	return Applied
}

// Adopt replaces the state by a snapshot. It keeps the snapshot's slice of ranks, and changes it later.
func (m *State) Adopt(s wire.Snapshot) {
	*m = State{Span: Span{Revision{s.Epoch, s.Version}, s.Version, s.Lineage}, Line: s.Ranks, Room: s.Room}
	if s.Lease != nil {
		m.Lease = *s.Lease
	}
}

// Held reports whether the lock is held.
func (m *State) Held() bool { return m.Lease.Fence != 0 }

// Waits returns the waits of a position at a time (unix ms); lease is the length of a lease.
func (m *State) Waits(p int, now int64, lease time.Duration) (wire.Waits, bool) {
	v := wire.View{Room: m.Room}
	if m.Held() {
		v.Lease = &m.Lease
	}
	return v.WaitsAt(p, now, lease)
}

// gap returns why an event was a gap.
func (s *Span) gap(e *wire.Event) Reason {
	switch f := s.OfHistory(Revision{e.Epoch, e.Version}, e.Lineage); {
	case f.OtherEpoch():
		return ReasonEpoch
	case f == OtherHistory:
		return ReasonHistory
	}
	return ReasonGap
}

// codesOnly reports whether an event has left the line, the lease and its end as they were. The holder's asks
// or the deadline of its claim may have changed.
func codesOnly(e *wire.Event, before *wire.Lease) bool {
	return len(e.Joined)+len(e.Ended)+len(e.Moved)+len(e.Missed) == 0 && e.Lease != nil &&
		e.Lease.Fence == before.Fence && e.Lease.ExpiresAt == before.ExpiresAt
}
