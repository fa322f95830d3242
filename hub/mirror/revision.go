package mirror

import "cmp"

// Revision names a state of a room. Within an epoch versions grow by one.
type Revision struct{ Epoch, Version int64 }

// Compare orders revisions: by epoch, and within one by version.
func (r Revision) Compare(o Revision) int {
	return cmp.Or(cmp.Compare(r.Epoch, o.Epoch), cmp.Compare(r.Version, o.Version))
}

// Span is a range of versions that is known without a gap. It begins with the snapshot at version Base, ends
// at a revision, and belongs to one replication history of the server.
type Span struct {
	Revision
	Base    int64
	Lineage string
}

// Freshness is how one revision compares with a known one, or with a known span.
type Freshness int

// The results, each about the other revision.
const (
	EpochBefore  Freshness = iota // of an epoch that is over
	EpochAfter                    // of an epoch that is not known yet
	OtherHistory                  // the server's history is another one: the last writes may be missing
	Missed                        // of before the snapshot: versions in between were missed
	Known                         // every version since then is known
	Same
	Next  // the very next version
	Ahead // versions in between are missing
)

// Of compares another revision with this one. The other comparisons use it.
func (r Revision) Of(at Revision) Freshness {
	switch {
	case at.Epoch < r.Epoch:
		return EpochBefore
	case at.Epoch > r.Epoch:
		return EpochAfter
	case at.Version < r.Version:
		return Known
	case at.Version == r.Version:
		return Same
	case at.Version == r.Version+1:
		return Next
	}
	return Ahead
}

// Of compares a revision with the span, which does not know the versions before Base (Missed).
func (s *Span) Of(at Revision) Freshness {
	f := s.Revision.Of(at)
	if f == Known && at.Version < s.Base {
		return Missed
	}
	return f
}

// OfHistory is Of for a revision that was written under a replication history of the server.
func (s *Span) OfHistory(at Revision, lineage string) Freshness {
	if at.Epoch == s.Epoch && lineage != s.Lineage {
		return OtherHistory
	}
	return s.Of(at)
}

// Reached reports whether the revision is known.
func (f Freshness) Reached() bool { return f == Known || f == Same }

// Unreached reports whether the revision is a later version of the same epoch.
func (f Freshness) Unreached() bool { return f == Next || f == Ahead }

// OtherEpoch reports whether the versions cannot be compared.
func (f Freshness) OtherEpoch() bool { return f == EpochBefore || f == EpochAfter }

// Sent is the state that a socket has: its revision, how often a snapshot had replaced the room's state, how
// often the session's seat had changed, when the room was to open, and until when it had a notice.
type Sent struct {
	Revision
	Snapshots, Seats     uint32
	OpensAt, NoticeUntil int64
}

// Worth reports whether next has news for a socket that has s. Versions never decrease on a socket.
func (s Sent) Worth(next Sent) bool {
	switch f := s.Of(next.Revision); {
	case f == Known:
		return false
	case f == Same:
		return s != next
	}
	return true
}
