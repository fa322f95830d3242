package room

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// The delays before a process measures the length of a journal that may have grown. After its own calls it
// measures soon. After an event of another process it measures later, in case the other process has died. It
// measures a journal again until the ledger has all of it.
const (
	journalsEvery = 250 * time.Millisecond
	journalsLater = time.Second
	// journalsMany is the number of journals to be measured above which further ones wait longer, for larger
	// batches.
	journalsMany  = 50
	journalsBatch = 500 // journals measured in one round trip
)

// journalGrew records that a room's journal may have grown, and when to measure it at the latest.
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

// takeJournals returns the rooms whose journals are to be measured now, and forgets them.
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

// journalGrew records in memory that a room's journal may have grown, if rooms have journals.
func (e *Engine) journalGrew(id ID, in time.Duration) {
	if e.cfg.Journal > 0 {
		e.memory.journalGrew(id, in)
	}
}

// followJournals calls `looked` with the length of each journal that may have grown, until ctx ends.
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

// measureJournals measures the lengths of some journals. It measures a journal again later if it has entries
// or Redis failed.
func (e *Engine) measureJournals(ctx context.Context, rooms []ID, looked func(ID, Checked)) {
	failed := e.eachMaster(ctx, rooms, func(ctx context.Context, rooms []ID) error {
		found := make([]*redis.IntCmd, len(rooms))
		_, err := e.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, id := range rooms {
				found[i] = p.XLen(ctx, e.names.Journal(id))
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
		return storeError("measure journals", err)
	})
	for id, err := range failed {
		if errors.Is(err, errSilent) { // else it was asked for each of the master's journals
			e.journalGrew(id, journalsLater)
		}
	}
}
