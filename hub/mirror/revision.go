package mirror

import "cmp"

// Revision is which state of a room something was told of. Within an epoch versions grow by one.
type Revision struct{ Epoch, Version int64 }

// Compare orders revisions: by epoch, and within one by version.
func (r Revision) Compare(o Revision) int {
	return cmp.Or(cmp.Compare(r.Epoch, o.Epoch), cmp.Compare(r.Version, o.Version))
}

// Span is what is known without a gap: everything from the snapshot of version Base on to a revision, in one
// history of the server.
type Span struct {
	Revision
	Base    int64
	Lineage string
}

// Freshness is what something that was told of one revision is to who knows another one, or a span.
type Freshness int

// From who knows to what is told.
const (
	EpochBefore  Freshness = iota // of an epoch that is over
	EpochAfter                    // of an epoch that nobody here has heard of
	OtherHistory                  // the server's history is another one: the last writes may be missing
	Missed                        // of before the snapshot: what happened in between was not told
	Known                         // everything since then was told
	Same
	Next  // the very next version
	Ahead // versions in between are missing
)

// Of is the rule of what is fresh. All others are made of it.
func (r Revision) Of(told Revision) Freshness {
	switch {
	case told.Epoch < r.Epoch:
		return EpochBefore
	case told.Epoch > r.Epoch:
		return EpochAfter
	case told.Version < r.Version:
		return Known
	case told.Version == r.Version:
		return Same
	case told.Version == r.Version+1:
		return Next
	}
	return Ahead
}

// Of is the rule where only what came since a snapshot is known.
func (s *Span) Of(told Revision) Freshness {
	f := s.Revision.Of(told)
	if f == Known && told.Version < s.Base {
		return Missed
	}
	return f
}

// OfHistory is the rule for what says in which history of the server it was written.
func (s *Span) OfHistory(told Revision, lineage string) Freshness {
	if told.Epoch == s.Epoch && lineage != s.Lineage {
		return OtherHistory
	}
	return s.Of(told)
}

// Reached reports whether the revision is one that is known.
func (f Freshness) Reached() bool { return f == Known || f == Same }

// Unreached reports whether versions of the same epoch are yet to come.
func (f Freshness) Unreached() bool { return f == Next || f == Ahead }

// OtherEpoch reports whether versions can not be compared.
func (f Freshness) OtherEpoch() bool { return f == EpochBefore || f == EpochAfter }

// Shown is what a socket was told: the state of a room, how often that was replaced by a snapshot, and how
// often the session's seat changed.
type Shown struct {
	Revision
	Snapshots, Seats uint32
}

// Worth reports whether there is something in next that a socket which shows s has not been told. Versions
// never go back on a socket.
func (s Shown) Worth(next Shown) bool {
	switch f := s.Of(next.Revision); {
	case f == Known:
		return false
	case f == Same:
		return s != next
	}
	return true
}
