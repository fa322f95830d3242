package room

import (
	"context"
	"fmt"
	"time"
)

// sweepBatch is how many rooms one replica claims at a time.
const sweepBatch = 100

// Sweep looks at due rooms until ctx ends, and returns its error. It asks for them when the next is due, and
// every SweepEvery at the least, since others list rooms meanwhile. What it found in a room goes to `looked`,
// which must not block: other rooms wait. Failures go to `failed`, and the sweep goes on with the next room.
func (e *Engine) Sweep(ctx context.Context, looked func(ID, Checked), failed func(error)) error {
	defer e.work.Wait()
	if !e.cfg.Silent {
		e.work.Go(func() { e.watch(ctx) })
	}
	if looked != nil {
		e.work.Go(func() { e.followJournals(ctx, looked) })
	}
	for {
		wait, err := e.sweepOnce(ctx, looked, failed)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

const (
	justAfter   = time.Millisecond     // how much later than due a room is asked for, so that it is due then
	sweepAtMost = 5 * time.Millisecond // however many rooms there are, no oftener than this

	// looksEachSecond is how many active rooms are looked at in which nothing is due, however many there are, but each as often as a lease may be over there: for
	// what nobody said, such as a lock that was deleted by hand where Redis tells of no key.
	looksEachSecond = 20
)

// sweepOnce looks at one batch and returns how long to wait for the next.
func (e *Engine) sweepOnce(ctx context.Context, looked func(ID, Checked), failed func(error)) (time.Duration, error) {
	if rooms := e.memory.takeUnreplayed(); rooms != nil { // each waits for a replay only so long
		e.work.Go(func() { e.replayAll(ctx, rooms, false) })
	}
	sent := time.Now()
	claims, err := e.index.claim(ctx, sweepBatch, e.DeadAfter())
	if err != nil {
		return e.cfg.SweepEvery, err
	}
	if !e.memory.cluster {
		e.timed("", sent, claims.now)
	}
	e.follow(ctx, claims, failed)
	claimed := time.Now()
	next := claims.next
	err = e.expireReplicas(ctx, claims.replicas)
	for _, c := range claims.rooms {
		if e := e.sweepRoom(ctx, c, claims, looked); e != nil {
			err = fmt.Errorf("room %s: %w", c.room, e)
		}
	}
	if next < 0 || next > e.cfg.SweepEvery {
		next = e.cfg.SweepEvery
	}
	return max(next+justAfter-time.Since(claimed), sweepAtMost), err
}

func (e *Engine) sweepRoom(ctx context.Context, c claim, all claims, looked func(ID, Checked)) error {
	rest := e.cfg.LookEvery
	if !e.cfg.Silent {
		rest = max(rest, time.Duration(all.listed)*time.Second/looksEachSecond)
	}
	sent := time.Now()
	found, retryAfter, err := e.expire(ctx, c.room, rest, all.replicas)
	if err == nil && retryAfter == 0 && e.memory.cluster {
		e.timed(c.room, sent, found.Now)
	}
	for err == nil && retryAfter == 0 && found.NextAt <= found.Now { // one script works on only so many
		found, retryAfter, err = e.expire(ctx, c.room, rest, all.replicas)
	}
	if err != nil {
		return err
	}
	if retryAfter > 0 { // other rooms do not wait for this one
		return e.index.reschedule(ctx, c, retryAfter, false)
	}
	if err := e.index.reschedule(ctx, c, e.rest(found), found.Asleep); err != nil {
		return err
	}
	if looked != nil {
		looked(c.room, found)
	}
	return nil
}

// rest is how long until a room is to be looked at again.
func (e *Engine) rest(found Checked) time.Duration {
	if found.Asleep && found.Epoch != 0 { // whoever uses it next has to register it anew
		return e.cfg.IdleEvery
	}
	return time.Duration(found.NextAt-found.Now) * time.Millisecond
}
