package room

import (
	"context"
	"time"
)

// longestLease is how long support may make a lease in all.
const longestLease = 10 * time.Minute

var (
	releaseScript = script("release", "support")
	extendScript  = script("extend", "support")
	removeScript  = script("remove", "support")
	moveScript    = script("move", "support")
)

// Release ends the lease with this fence as forced. Refusal: ErrStaleFence.
func (e *Engine) Release(ctx context.Context, id ID, request string, fence int64, by Action) (Standing, error) {
	return e.standing(ctx, releaseScript, id, requestKey(request), fence, by.reasons())
}

// Extend gives the lease with this fence more time, to ten minutes in all at the most.
// Refusals: ErrStaleFence, ErrLeaseTooLong.
func (e *Engine) Extend(ctx context.Context, id ID, request string, fence int64, more time.Duration, by Action) (Standing, error) {
	return e.standing(ctx, extendScript, id, requestKey(request), fence, more.Milliseconds(),
		longestLease.Milliseconds(), by.reasons())
}

// Remove takes the waiter with this ticket out of the line. Refusal: ErrStaleTicket.
func (e *Engine) Remove(ctx context.Context, id ID, request string, ticket int64, by Action) (Standing, error) {
	return e.standing(ctx, removeScript, id, requestKey(request), ticket, by.reasons())
}

// Move puts the waiter with this ticket at a position, from 1; past the end is last.
// Refusal: ErrStaleTicket.
func (e *Engine) Move(ctx context.Context, id ID, request string, ticket int64, position int, by Action) (Standing, error) {
	return e.standing(ctx, moveScript, id, requestKey(request), ticket, position, by.reasons())
}
