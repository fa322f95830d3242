package room

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepBatch is the most rooms that one replica claims at a time.
const sweepBatch = 100

// Sweep looks at due rooms until ctx ends, and returns the error of ctx.
//
// It claims rooms when the next one is due, and at least every SweepEvery, since other processes list rooms
// meanwhile. It calls `looked` with the state of each room; `looked` must not block, since other rooms wait.
// It calls `failed` with each error and goes on with the next room. With Redis Cluster it calls both from
// several goroutines, since no room waits for the master of another one.
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
	justAfter   = time.Millisecond     // delay after the due time, so that the room is due by then
	sweepAtMost = 5 * time.Millisecond // least time between two claims

	// looksEachSecond is the number of looks a second at active rooms in which nothing is due. They find
	// changes without a notification, such as a lock deleted by hand while Redis has keyspace notifications
	// off.
	looksEachSecond = 20
)

// sweepOnce looks at one batch of rooms and returns the time until the next batch.
func (e *Engine) sweepOnce(ctx context.Context, looked func(ID, Checked), failed func(error)) (time.Duration,
	error) {
	if rooms := e.memory.takeUnreplayed(); rooms != nil { // within the recovery window
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
	e.sweepRooms(ctx, claims, looked, failed)
	if next < 0 || next > e.cfg.SweepEvery {
		next = e.cfg.SweepEvery
	}
	return max(next+justAfter-time.Since(claimed), sweepAtMost), err
}

// sweepRooms looks at claimed rooms, those of all masters at the same time. It waits for a master at most for
// SweepEvery. While a master is late its rooms are left out, and are due again when their claims end.
func (e *Engine) sweepRooms(ctx context.Context, all claims, looked func(ID, Checked), failed func(error)) {
	ids, claimed := make([]ID, len(all.rooms)), make(map[ID]claim, len(all.rooms))
	for i, c := range all.rooms {
		ids[i], claimed[c.room] = c.room, c
	}
	var begun []<-chan struct{}
	for master, rooms := range e.byMaster(ctx, ids) {
		if !over(e.sweeping[master]) {
			continue
		}
		done := make(chan struct{})
		e.sweeping[master] = done
		if !e.silent.has(master) {
			begun = append(begun, done)
		}
		e.work.Go(func() {
			defer close(done)
			var errs failures
			e.eachOf(ctx, master, rooms, eachWithin, &errs, func(ctx context.Context, id ID) error {
				return e.sweepRoom(ctx, claimed[id], all, looked)
			})
			for id, err := range errs.rooms {
				if !errors.Is(err, errSilent) && ctx.Err() == nil { // the first one of a silent master is enough
					failed(fmt.Errorf("room %s: %w", id, err))
				}
			}
		})
	}
	late := time.NewTimer(e.cfg.SweepEvery)
	defer late.Stop()
	for _, done := range begun {
		select {
		case <-done:
		case <-late.C:
			return
		}
	}
}

// over reports whether work that closes a channel has ended, or never began.
func over(done <-chan struct{}) bool {
	if done == nil {
		return true
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
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
	for err == nil && retryAfter == 0 && found.NextAt <= found.Now { // one call does a limited amount of work
		found, retryAfter, err = e.expire(ctx, c.room, rest, all.replicas)
	}
	if err != nil {
		return err
	}
	if retryAfter > 0 { // other rooms do not wait while this one recovers
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

// rest returns the time until the next look at a room.
func (e *Engine) rest(found Checked) time.Duration {
	if found.Asleep && found.Epoch != 0 { // the next call that uses it registers it again
		return e.cfg.IdleEvery
	}
	return time.Duration(found.NextAt-found.Now) * time.Millisecond
}
