package room

import (
	"context"
	"time"
)

// sweepBatch is how many rooms one replica claims at a time.
const sweepBatch = 100

// restFor is how long an idle room is left alone.
const restFor = 20 * time.Second

// Sweep looks at due rooms until ctx ends. After each look it hands what it found to `looked`, one room
// after another: the ledger drains the room's journal there. It returns ctx's error; failures of
// the store go to `failed` and the sweep goes on.
func (e *Engine) Sweep(ctx context.Context, looked func(context.Context, ID, Checked), failed func(error)) error {
	tick := time.NewTicker(e.cfg.SweepEvery)
	defer tick.Stop()
	for {
		for {
			n, err := e.sweepOnce(ctx, looked)
			if err != nil && ctx.Err() == nil {
				failed(err)
			}
			if err != nil || n < sweepBatch {
				break
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (e *Engine) sweepOnce(ctx context.Context, looked func(context.Context, ID, Checked)) (int, error) {
	claims, err := e.index.claim(ctx, sweepBatch)
	if err != nil {
		return 0, err
	}
	for _, c := range claims {
		found, err := e.Expire(ctx, c.room)
		if err != nil {
			return 0, err
		}
		if err := e.index.settle(ctx, c, e.rest(found), found.Asleep); err != nil {
			return 0, err
		}
		if looked != nil {
			looked(ctx, c.room, found)
		}
	}
	return len(claims), nil
}

// rest is how long until a room is to be looked at again.
func (e *Engine) rest(found Checked) time.Duration {
	if !found.Active && found.Journal == 0 {
		return restFor
	}
	return time.Duration(found.NextAt-found.Now) * time.Millisecond
}
