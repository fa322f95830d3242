package ledger

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/room"
)

// portion is the part of one room's journal that is drained at a time.
type portion struct {
	id       room.ID
	entries  []room.Entry
	browsers map[int64][]string // to push to, by ticket
	verdicts []verdict          // on the entries' matches, in the journal's order; apply sets them
	sent     int                // of the verdicts, to the room
}

// readPortions returns the first entries of the rooms' journals, without rooms that have none.
func (l *Ledger) readPortions(ctx context.Context, ids []room.ID) (portions []*portion, failed error) {
	for _, j := range l.cfg.Journal.ReadJournals(ctx, ids, drainBatch) {
		switch {
		case j.Err != nil:
			failed = errors.Join(failed, fmt.Errorf("drain %s: %w", j.Room, j.Err))
		case len(j.Entries) == 0:
			l.backlog.drained(j.Room)
		default:
			portions = append(portions, &portion{id: j.Room, entries: j.Entries})
		}
	}
	each(portions, func(_ int, p *portion) { p.browsers = l.browsers(ctx, p.id, p.entries) })
	return portions, failed
}

// roomsAtATime bounds the rooms of a transaction that are asked in Redis at the same time.
const roomsAtATime = 8

// each calls f with each portion and its index, roomsAtATime at the same time, and waits for all.
func each(portions []*portion, f func(i int, p *portion)) {
	var g errgroup.Group
	g.SetLimit(roomsAtATime)
	for i, p := range portions {
		g.Go(func() error { f(i, p); return nil })
	}
	_ = g.Wait()
}
