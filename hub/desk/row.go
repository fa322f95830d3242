package desk

import (
	"slices"
	"time"

	"github.com/waitroom/waitroom/room"
)

const (
	handoffsIn = time.Minute      // handoffs are those within
	lostFor    = 10 * time.Minute // how long a loss of data is trouble
	someLeases = 3                // fewest ended leases of which an expired majority is trouble
)

// row is a room of the overview.
type row struct {
	known   bool
	glance  room.Glance
	last    summary // as it was sent
	sent    bool
	dirty   bool // it is to be looked at
	gone    bool // it is to be dropped
	touched time.Time
}

// summary is what is sent of a room.
type summary struct {
	paused        bool
	held          bool
	holder        string
	expires       int64
	waiting, away int
	oldest        int64
	handoffs      int
	trouble       trouble
}

// trouble is the set of problems that an agent should look at.
type trouble uint8

const (
	troublePaused  trouble = 1 << iota
	troubleStuck           // sellers wait, the lock is free, and all of them are away
	troubleExpired         // most leases expire
	troubleNobodys         // a code belongs to no lease
	troubleLost            // the store lost data
)

var troubles = [...]string{"paused", "stuck", "expired", "nobodys", "lost"}

// passes reports whether a problem may end by time alone, which only another read of the room shows.
func (r *row) passes() bool { return r.last.trouble&(troubleExpired|troubleNobodys) != 0 }

// at returns the room's summary at a time (unix ms).
func (r *row) at(now int64) summary {
	g := &r.glance
	s := summary{paused: g.Paused, holder: g.Holder, waiting: g.Waiting, away: g.Away, oldest: g.Oldest}
	if g.Lease != nil {
		s.held, s.expires = true, g.Lease.ExpiresAt
	}
	before, _ := slices.BinarySearch(g.Grants, now-handoffsIn.Milliseconds()+1)
	s.handoffs = len(g.Grants) - before
	s.trouble.add(troublePaused, g.Paused)
	s.trouble.add(troubleStuck, g.Waiting > 0 && g.Lease == nil && !g.Paused)
	s.trouble.add(troubleExpired, g.Leases >= someLeases && 2*g.Expired > g.Leases)
	s.trouble.add(troubleNobodys, g.Nobodys > 0)
	s.trouble.add(troubleLost, g.LostAt != 0 && now-g.LostAt < lostFor.Milliseconds())
	return s
}

func (t *trouble) add(what trouble, so bool) {
	if so {
		*t |= what
	}
}
