package room

import (
	"context"
	"time"
)

var expireVerb = newVerb[expireArgs]("expire")

type expireArgs struct {
	Rest      time.Duration // longest time until the next look while the room is active
	TakeIn    time.Duration // the same while the journal has entries
	Retention time.Duration // how long an idle room's keys are kept
	Replicas  string        // live replicas; see expire_replicas in presence.lua
}

// Checked is the state of a room after Expire.
type Checked struct {
	View
	Active  bool  // a session holds or waits
	Asleep  bool  // the room is idle, nothing is left to do, and its keys will expire
	NextAt  int64 // unix ms of Redis's clock: when to call Expire again
	Journal int   // entries that the ledger does not have yet
}

// Expire brings the room up to date: an expired lease ends and the next waiter is granted.
//
// It is idempotent. Timers, notifications and the sweep call it, on every replica (rule 5 of
// docs/contract.md). Error: ErrStore.
func (e *Engine) Expire(ctx context.Context, id ID) (Checked, error) {
	for {
		found, retryAfter, err := e.expire(ctx, id, e.cfg.LookEvery, "")
		if err != nil || retryAfter == 0 {
			return found, err
		}
		if err := pause(ctx, retryAfter); err != nil {
			return Checked{}, err
		}
	}
}

// drainEvery is how often Sweep looks at a room whose journal waits for the ledger.
const drainEvery = time.Second

// expire runs the verb once, as attempt does. If retryAfter > 0 the room is recovering and nothing was done.
// rest is the longest time until the next look at an active room; replicas lists the live ones ("" =
// unknown).
func (e *Engine) expire(
	ctx context.Context, id ID, rest time.Duration, replicas string,
) (found Checked, retryAfter time.Duration, err error) {
	args := expireArgs{rest, drainEvery, e.cfg.Retention, replicas}
	res, retryAfter, err := e.attempt(ctx, expireVerb.with(args), id)
	if err != nil || retryAfter > 0 {
		return Checked{}, retryAfter, err
	}
	a, err := e.read(id, res)
	if err != nil {
		return Checked{}, 0, err
	}
	return Checked{View: a.View, Active: a.Code == "active", Asleep: a.Code == "asleep", NextAt: a.NextAt,
		Journal: a.Journal}, 0, nil
}
