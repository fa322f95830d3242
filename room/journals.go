package room

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// How soon a journal is looked at that grew: the ledger takes in some entries at once. Where another process did something in the room, it is left
// to that one, unless it has died meanwhile. What is not taken in yet is looked at again.
const (
	journalsEvery = 250 * time.Millisecond
	journalsLater = time.Second
	journalsMany  = 50  // rooms that have grown: each further one waits for more entries, which cost less together
	journalsBatch = 500 // rooms that are asked for at a time
)

// journalGrew notes that something was done in a room, and when to look at its journal at the latest.
func (m *memory) journalGrew(id ID, in time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.journals) >= journalsMany {
		in = journalsLater
	}
	at := time.Now().Add(in)
	if before, ok := m.journals[id]; !ok || at.Before(before) {
		m.journals[id] = at
	}
}

// takeJournals returns the rooms to look at by now, and forgets them.
func (m *memory) takeJournals(now time.Time) (list []ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, at := range m.journals {
		if !at.After(now) {
			list = append(list, id)
			delete(m.journals, id)
		}
	}
	return list
}

// journalGrew is that of memory, where there are journals.
func (e *Engine) journalGrew(id ID, in time.Duration) {
	if e.cfg.Journal > 0 {
		e.memory.journalGrew(id, in)
	}
}

// followJournals hands `looked` how long the journals are of the rooms in which something was done, until ctx ends.
func (e *Engine) followJournals(ctx context.Context, looked func(ID, Checked)) {
	tick := time.NewTicker(journalsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for rooms := range slices.Chunk(e.memory.takeJournals(now), journalsBatch) {
				e.measureJournals(ctx, rooms, looked)
			}
		}
	}
}

// measureJournals asks how long some journals are. One that Redis does not answer for is asked for again.
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
			e.journalGrew(id, journalsLater)
		case n > 0:
			looked(id, Checked{Journal: int(n)})
			e.journalGrew(id, journalsLater)
		}
	}
}
