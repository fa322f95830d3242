package room

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

var expireVerb = newVerb[expireArgs]("expire")

type expireArgs struct {
	Rest      time.Duration // when to look again at the latest while somebody holds or waits
	TakeIn    time.Duration // and while the journal waits to be taken in
	Retention time.Duration // how long an idle room's keys are kept
	Replicas  string        // which are alive; see expire_replicas in presence.lua
}

// Checked is what Expire found.
type Checked struct {
	View
	Active  bool  // somebody holds or waits
	Asleep  bool  // idle, with nothing left to do: its keys will go away by themselves
	NextAt  int64 // unix ms of Redis's clock: look again then
	Journal int   // entries that the ledger does not have yet
}

// Expire brings the room to now: a lease that is over ends and the next in line has the lock. It is
// idempotent; timers, notifications and the sweep all call it, from every replica.
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

// expire is Expire that does not wait where the room answers nobody for a moment: see try. rest is when an active room is looked at again at the
// latest, replicas which of them are alive ("" = not known).
func (e *Engine) expire(ctx context.Context, id ID, rest time.Duration, replicas string) (Checked, time.Duration, error) {
	res, retryAfter, err := e.attempt(ctx, expireVerb.with(expireArgs{rest, e.cfg.DrainEvery, e.cfg.Retention, replicas}), id, []string{"expire"})
	if err != nil || retryAfter > 0 {
		return Checked{}, retryAfter, err
	}
	a, err := e.read(id, res)
	if err != nil {
		return Checked{}, 0, err
	}
	if len(a.rest) != 2 {
		return Checked{}, 0, fmt.Errorf("%w: expire reply has %d fields too many or few", ErrStore, len(a.rest)-2)
	}
	next, _ := strconv.ParseInt(a.rest[0], 10, 64)
	journal, _ := strconv.Atoi(a.rest[1])
	return Checked{View: a.standing.View, Active: a.code == "active", Asleep: a.code == "asleep",
		NextAt: next, Journal: journal}, 0, nil
}
