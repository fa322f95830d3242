package room

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

var glanceQuestion = newVerb[glanceArgs]("glance")

type glanceArgs struct {
	GrantsFor  time.Duration // age of the oldest grant that is listed
	MostGrants int
	EndsFor    time.Duration // age of the oldest end that is counted
	MostEnds   int
	MostOldest int // number of waiters among which the oldest is searched
}

// The limits of a Glance.
const (
	glanceGrants = 5 * time.Minute
	mostGrants   = 600
	glanceEnds   = 15 * time.Minute
	mostEnds     = 10
	mostOldest   = 50
)

// Glance is a summary of a room, for an overview of many rooms.
type Glance struct {
	View
	Holder string // the seller that holds the lock; "" while the lock is free
	Away   int    // number of waiters that are away
	Oldest int64  // unix ms: when the earliest of the first 50 waiters joined; 0 if the line is empty
	// Grants has the times (unix ms) of the grants of the last 5 minutes. The earliest is first; there are at
	// most the latest 600.
	Grants  []int64
	Leases  int   // number of leases among the last 10 places that ended, within 15 minutes
	Expired int   // number of those leases that expired
	Nobodys int   // number of unmatched messages with a code in the last 10 minutes
	LostAt  int64 // unix ms: when Redis last lost the room's data; 0 = not since the room began
}

// Glance returns a summary of a room. Error: ErrStore.
func (e *Engine) Glance(ctx context.Context, id ID) (Glance, error) {
	args := glanceArgs{glanceGrants, mostGrants, glanceEnds, mostEnds, mostOldest}
	lines, err := e.lines(ctx, glanceQuestion.with(args), id, 3)
	if err != nil {
		return Glance{}, err
	}
	a, err := e.read(id, lines[0])
	if err != nil {
		return Glance{}, err
	}
	r := reader{fields: strings.Fields(lines[1])}
	g := Glance{View: a.standing.View, Holder: r.seller(), Away: int(r.int()), Oldest: r.int(),
		Leases: int(r.int()), Expired: int(r.int()),
		Nobodys: int(r.int()), LostAt: r.int()}
	if r.short {
		return Glance{}, fmt.Errorf("%w: glance is cut short", ErrStore)
	}
	grants := reader{fields: strings.Fields(lines[2])}
	for len(grants.fields) > 0 {
		g.Grants = append(g.Grants, grants.int())
	}
	slices.Reverse(g.Grants)
	return g, nil
}

// Active returns the rooms of the index: in use now or in the last minute, or with work left. Error:
// ErrStore.
func (e *Engine) Active(ctx context.Context) ([]ID, error) { return e.index.rooms(ctx) }
