package room

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// How soon a journal is looked at that grew: the ledger takes in some entries at once. Where something was done by another process, it is left to that one,
// unless it has died meanwhile. What is not taken in yet is looked at again.
const (
	journalsEvery = 250 * time.Millisecond
	journalsLater = time.Second
	journalsMany  = 50  // rooms that have grown: each further one waits for more entries, which cost less together
	journalsBatch = 500 // rooms that are asked for at a time
)

// journals are the rooms whose journal may have grown.
type journals struct {
	on bool

	mu    sync.Mutex
	grown map[ID]time.Time // when to look
}

func newJournals(on bool) *journals { return &journals{on: on, grown: make(map[ID]time.Time)} }

// grew notes that something was done in a room, and when to look at its journal at the latest.
func (j *journals) grew(id ID, in time.Duration) {
	if !j.on {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.grown) >= journalsMany {
		in = journalsLater
	}
	at := time.Now().Add(in)
	if before, ok := j.grown[id]; !ok || at.Before(before) {
		j.grown[id] = at
	}
}

// take returns the rooms to look at by now, and forgets them.
func (j *journals) take(now time.Time) (list []ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id, at := range j.grown {
		if !at.After(now) {
			list = append(list, id)
			delete(j.grown, id)
		}
	}
	return list
}

// followJournals tells how long the journals are of the rooms in which something was done, until ctx ends.
func (e *Engine) followJournals(ctx context.Context, looked func(ID, Checked)) {
	tick := time.NewTicker(journalsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for rooms := range slices.Chunk(e.journals.take(now), journalsBatch) {
				e.measureJournals(ctx, rooms, looked)
			}
		}
	}
}

// measureJournals asks how long some journals are. Whose answer does not come is asked for again.
func (e *Engine) measureJournals(ctx context.Context, rooms []ID, looked func(ID, Checked)) {
	found := make([]*redis.IntCmd, len(rooms))
	_, _ = e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range rooms {
			found[i] = p.XLen(ctx, JournalKey(id))
		}
		return nil
	})
	for i, id := range rooms {
		switch n, err := found[i].Result(); {
		case err != nil:
			e.journals.grew(id, journalsLater)
		case n > 0:
			looked(id, Checked{Journal: int(n)})
			e.journals.grew(id, journalsLater)
		}
	}
}
