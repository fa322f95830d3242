package room

import (
	"sync"
	"time"
)

// told is the latest that this process was told of each room. A store that knows less went back: it lost writes.
type told struct {
	keep time.Duration // rooms that nobody asked for in this long are forgotten: the store forgets them too

	mu    sync.Mutex
	rooms map[ID]lastTold
	swept time.Time
}

type lastTold struct {
	epoch, version int64
	at             time.Time
}

func newTold(keep time.Duration) *told { return &told{keep: keep, rooms: make(map[ID]lastTold)} }

func (t *told) of(id ID) (epoch, version int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.rooms[id]
	if !ok || time.Since(r.at) > t.keep {
		return 0, 0
	}
	return r.epoch, r.version
}

func (t *told) tell(id ID, epoch, version int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.rooms[id]; ok && (r.epoch > epoch || r.epoch == epoch && r.version > version) {
		return // a reply that was overtaken
	}
	if epoch == 0 {
		return
	}
	now := time.Now()
	t.rooms[id] = lastTold{epoch, version, now}
	if now.Sub(t.swept) < t.keep {
		return
	}
	t.swept = now
	for id, r := range t.rooms {
		if now.Sub(r.at) > t.keep {
			delete(t.rooms, id)
		}
	}
}
