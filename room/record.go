package room

import (
	"context"
	"time"
)

// recordWithin is how long the ledger may take to say what it knows of a room, all in all.
const recordWithin = 250 * time.Millisecond

// asksMost is of how many places the ledger is asked how they ended.
const asksMost = 1000

// record is what the ledger says of a room in time. Without it, what the living processes know has to do.
type record struct {
	Recorded
	ends []RecordedEnd // of places that this process has observed live
}

func (e *Engine) recorded(ctx context.Context, id ID) (found record) {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	if e.cfg.Recorded != nil {
		if known, err := e.cfg.Recorded(ctx, id); err == nil {
			found.Recorded = known
		}
	}
	if e.cfg.Ended != nil {
		if live := e.memory.livePlaces(id, asksMost); len(live) > 0 {
			found.ends, _ = e.cfg.Ended(ctx, id, live) // those it found in time
		}
	}
	return found
}

// askAgain is longer than a room recovers, and shorter than from one history of a server to the next.
const askAgain = 5 * time.Second

// asksRecord returns true once for each time that a room recovers.
func (m *memory) asksRecord(id ID, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(id, now)
	if now.Sub(r.recordAsked) <= askAgain {
		return false
	}
	r.recordAsked = now
	return true
}

// askRecord replays to a room in which another history has just begun what the ledger knows of it, once, and goes on beside the call. Where no living
// process has observed anything, as after a restore from backups, the ledger alone knows that Redis went back.
func (e *Engine) askRecord(ctx context.Context, id ID) {
	if e.cfg.Recorded == nil || !e.memory.asksRecord(id, time.Now()) {
		return
	}
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
		defer cancel()
		_ = e.replayRecord(ctx, id, noToken) // else what Redis has is what there is
	})
}
