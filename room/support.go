package room

import (
	"context"
	"time"
)

var (
	releaseVerb = newVerb[releaseArgs]("release")
	extendVerb  = newVerb[extendArgs]("extend")
	removeVerb  = newVerb[removeArgs]("remove")
	moveVerb    = newVerb[moveArgs]("move")
	restoreVerb = newVerb[restoreArgs]("restore")
)

type releaseArgs struct {
	Fence  int64
	Action string // JSON members; "" = no member of support
}

type extendArgs struct {
	Fence   int64
	More    time.Duration
	Longest time.Duration // longest that the lease may be in all
	Action  string
	Session string // refused unless the lease is this session's; "" = any
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

type restoreArgs struct {
	Ticket int64
	Action string
}

// Release ends the lease with this fence as forced. Errors: ErrStaleFence, ErrStore.
func (e *Engine) Release(ctx context.Context, id ID, request string, fence int64, by Action) (Standing,
	error) {
	return e.standing(ctx, releaseVerb.with(releaseArgs{fence, by.reasons()}).keptIn(requestKey(request)), id)
}

// Extend gives the lease with this fence more time, to at most ten minutes in all.
// Errors: ErrStaleFence, ErrLeaseTooLong, ErrStore.
func (e *Engine) Extend(
	ctx context.Context, id ID, request string, fence int64, more time.Duration, by Action,
) (Standing, error) {
	if by != (Action{}) {
		by.Seconds = Seconds(more)
	}
	args := extendArgs{fence, more, LongestLease, by.reasons(), ""}
	return e.standing(ctx, extendVerb.with(args).keptIn(requestKey(request)), id)
}

// Remove removes the waiter with this ticket from the line. Errors: ErrStaleTicket, ErrStore.
func (e *Engine) Remove(ctx context.Context, id ID, request string, ticket int64, by Action) (Standing,
	error) {
	return e.standing(ctx, removeVerb.with(removeArgs{ticket, by.reasons()}).keptIn(requestKey(request)), id)
}

// Move moves the waiter with this ticket to a position, from 1; past the end is last.
// Errors: ErrStaleTicket, ErrStore.
func (e *Engine) Move(
	ctx context.Context, id ID, request string, ticket int64, position int, by Action,
) (Standing, error) {
	args := moveArgs{ticket, position, by.reasons()}
	return e.standing(ctx, moveVerb.with(args).keptIn(requestKey(request)), id)
}

// Restore puts a session back at the front of the line whose place support ended less than a minute ago, by
// Release or Remove. Ticket is that place's. The session gets a new place with a new ticket, and the lock
// where that is free. The standing has the new place; while that place lives, a repeat gets it too. Errors:
// ErrStaleTicket for any other ticket, and where the session has joined again or the seller was erased;
// ErrSellerHasPlace where the seller has joined again with another session; ErrStore.
func (e *Engine) Restore(ctx context.Context, id ID, request string, ticket int64, by Action) (Standing,
	error) {
	return e.listed(ctx, id, restoreVerb.with(restoreArgs{ticket, by.reasons()}).keptIn(requestKey(request)))
}
