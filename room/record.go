package room

import (
	"context"
	"maps"
	"sync"
	"time"
)

// recordWithin is how long the durable record may take to say what it knows of a room, all in all.
const recordWithin = 250 * time.Millisecond

// asksMost is of how many places the record is asked how they ended.
const asksMost = 1000

// record is what the durable record says of a room: as far as it does so in time. Else what the living processes know has to do.
type record struct {
	Recorded
	ends []RecordedEnd // of places that this process was told are live
}

func (e *Engine) recorded(ctx context.Context, id ID) (found record) {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	if e.cfg.Recorded != nil {
		if said, err := e.cfg.Recorded(ctx, id); err == nil {
			found.Recorded = said
		}
	}
	if e.cfg.Ended != nil {
		if live := e.told.live(id, asksMost); len(live) > 0 {
			found.ends, _ = e.cfg.Ended(ctx, id, live) // those it found in time
		}
	}
	return found
}

// asked is of which rooms the durable record was asked, when another history of the server had begun there. The zero value is ready.
type asked struct {
	mu    sync.Mutex
	rooms map[ID]time.Time
	swept time.Time
}

// askAgain is longer than a room is in doubt, and shorter than from one history of a server to the next.
const askAgain = 5 * time.Second

// first is true once for each time that a room is in doubt.
func (a *asked) first(id ID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.swept) > askAgain {
		a.swept = now
		maps.DeleteFunc(a.rooms, func(_ ID, at time.Time) bool { return now.Sub(at) > askAgain })
	}
	if _, known := a.rooms[id]; known {
		return false
	}
	if a.rooms == nil {
		a.rooms = make(map[ID]time.Time)
	}
	a.rooms[id] = now
	return true
}

// askRecord lays before a room in which another history has just begun what the durable record knows of it, once, and goes on beside the call: where
// no living process was told anything, as after a restore from backups, the record alone knows that the store went back.
func (e *Engine) askRecord(ctx context.Context, id ID) {
	if e.cfg.Recorded == nil || !e.asked.first(id, time.Now()) {
		return
	}
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
		defer cancel()
		_ = e.fresh(ctx, id, noBlank) // else the store's word has to do
	})
}
