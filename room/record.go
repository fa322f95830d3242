package room

import (
	"context"
	"time"
)

// recordWithin is how long reading a room from the ledger may take in all.
const recordWithin = 250 * time.Millisecond

// asksMost is the most places of a room whose end a replay looks up in the ledger.
const asksMost = 1000

// record is what the ledger returned of a room in time. Without it, only observations are replayed.
type record struct {
	Recorded
	ends []RecordedEnd // of places that this process has observed live
}

// recorded returns what the ledger has of a room; zero if it does not answer in time.
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
			found.ends, _ = e.cfg.Ended(ctx, id, live) // the ends found in time, also with an error
		}
	}
	return found
}

// askAgain is the least time between two reads of a recovering room's ledger: longer than a recovery window,
// shorter than from one failover to the next.
const askAgain = 5 * time.Second

// asksRecord reports whether the ledger is to be read for a recovering room: once for each recovery.
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

// askRecord replays the ledger to a recovering room, once, in the background. If no process has observed
// anything of the room, as after a restore from a backup, only the ledger shows that Redis lost writes.
func (e *Engine) askRecord(ctx context.Context, id ID) {
	if e.cfg.Recorded == nil || !e.memory.asksRecord(id, time.Now()) {
		return
	}
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
		defer cancel()
		_ = e.replayRecord(ctx, id, noToken) // if it fails, the room goes on with the data in Redis
	})
}
