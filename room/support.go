package room

import (
	"context"
	"time"
)

// longestLease is how long support may make a lease in all.
const longestLease = 10 * time.Minute

var (
	releaseVerb = newVerb[releaseArgs]("release")
	extendVerb  = newVerb[extendArgs]("extend")
	removeVerb  = newVerb[removeArgs]("remove")
	moveVerb    = newVerb[moveArgs]("move")
)

type releaseArgs struct {
	Fence  int64
	Action string // JSON members; "" = nobody is named
}

type extendArgs struct {
	Fence   int64
	More    time.Duration
	Longest time.Duration // that a lease may be in all
	Action  string
	Session string // whose lease alone may be meant; "" = anybody's
}

type removeArgs struct {
	Ticket int64
	Action string
}

type moveArgs struct {
	Ticket   int64
	Position int // from 1; past the end = last
	Action   string
}

// Release ends the lease with this fence as forced. Refusal: ErrStaleFence.
func (e *Engine) Release(ctx context.Context, id ID, request string, fence int64, by Action) (Standing, error) {
	return e.standing(ctx, releaseVerb.with(releaseArgs{fence, by.reasons()}), id, requestKey(request))
}

// Extend gives the lease with this fence more time, to ten minutes in all at the most.
// Refusals: ErrStaleFence, ErrLeaseTooLong.
func (e *Engine) Extend(ctx context.Context, id ID, request string, fence int64, more time.Duration, by Action) (Standing, error) {
	if by != (Action{}) {
		by.Seconds = Seconds(more)
	}
	return e.standing(ctx, extendVerb.with(extendArgs{fence, more, longestLease, by.reasons(), ""}), id, requestKey(request))
}

// Remove takes the waiter with this ticket out of the line. Refusal: ErrStaleTicket.
func (e *Engine) Remove(ctx context.Context, id ID, request string, ticket int64, by Action) (Standing, error) {
	return e.standing(ctx, removeVerb.with(removeArgs{ticket, by.reasons()}), id, requestKey(request))
}

// Move puts the waiter with this ticket at a position, from 1; past the end is last.
// Refusal: ErrStaleTicket.
func (e *Engine) Move(ctx context.Context, id ID, request string, ticket int64, position int, by Action) (Standing, error) {
	return e.standing(ctx, moveVerb.with(moveArgs{ticket, position, by.reasons()}), id, requestKey(request))
}
