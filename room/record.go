package room

import (
	"context"
	"maps"
	"sync"
	"time"
)

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
		_ = e.fresh(ctx, id) // else the store's word has to do
	})
}
