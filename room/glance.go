package room

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waitroom/waitroom/room/wire"
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
	wire.Glance // its Grants are of the last 5 minutes, the latest 600; the earliest is first
}

// Glance returns a summary of a room. Error: ErrStore.
func (e *Engine) Glance(ctx context.Context, id ID) (Glance, error) {
	args := glanceArgs{glanceGrants, mostGrants, glanceEnds, mostEnds, mostOldest}
	a, err := e.ask(ctx, glanceQuestion.with(args), id)
	if err != nil {
		return Glance{}, err
	}
	if a.Glance == nil {
		return Glance{}, fmt.Errorf("%w: reply has no glance", ErrStore)
	}
	if slices.Reverse(a.Glance.Grants); len(a.Glance.Grants) == 0 {
		a.Glance.Grants = nil
	}
	return Glance{View: a.View, Glance: *a.Glance}, nil
}

// Active returns the rooms of the index: in use now or in the last minute, or with work left. Error:
// ErrStore.
func (e *Engine) Active(ctx context.Context) ([]ID, error) { return e.index.rooms(ctx) }
