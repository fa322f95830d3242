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
	GrantsFor  time.Duration // how long ago a lease was granted at the most
	MostGrants int
	EndsFor    time.Duration // how long ago a place ended at the most
	MostEnds   int
	MostOldest int // so many of the line are asked when they joined
}

// What a Glance looks at.
const (
	glanceGrants = 5 * time.Minute
	mostGrants   = 600
	glanceEnds   = 15 * time.Minute
	mostEnds     = 10
	mostOldest   = 50
)

// Glance is what one look over many rooms shows of each.
type Glance struct {
	View
	Holder  string  // the seller that holds the lock; "" while it is free
	Away    int     // how many of those who wait are passed over
	Oldest  int64   // unix ms: when the earliest of the first fifty in line joined; 0 where nobody waits
	Grants  []int64 // unix ms: when the leases of the last five minutes were granted, the earliest first, the latest 600 at the most
	Leases  int     // of the last ten places that ended within a quarter of an hour: how many had held the lock
	Expired int     // and how many of those leases expired
	Nobodys int     // messages with a code in the last ten minutes that belong to nobody
	LostAt  int64   // unix ms: when the store lost the room's data last; 0 = not since it began
}

// Glance looks at a room without its line.
func (e *Engine) Glance(ctx context.Context, id ID) (Glance, error) {
	lines, err := e.lines(ctx, glanceQuestion.with(glanceArgs{glanceGrants, mostGrants, glanceEnds, mostEnds, mostOldest}), id, 3)
	if err != nil {
		return Glance{}, err
	}
	a, err := e.read(id, lines[0])
	if err != nil {
		return Glance{}, err
	}
	r := reader{fields: strings.Fields(lines[1])}
	g := Glance{View: a.standing.View, Holder: r.seller(), Away: int(r.int()), Oldest: r.int(), Leases: int(r.int()), Expired: int(r.int()),
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

// Active lists the rooms in use: somebody holds or waits, or did within the last minute or so, or something is left to do.
func (e *Engine) Active(ctx context.Context) ([]ID, error) { return e.index.rooms(ctx) }
