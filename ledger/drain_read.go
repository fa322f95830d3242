package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// portion is the part of one room's journal that is drained at a time.
type portion struct {
	id       room.ID
	entries  []room.Entry
	browsers map[int64][]string // to push to, by ticket
	verdicts []verdict          // on the entries' matches, in the journal's order; apply sets them
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
			browsers := l.browsers(ctx, j.Room, j.Entries)
			portions = append(portions, &portion{id: j.Room, entries: j.Entries, browsers: browsers})
		}
	}
	return portions, failed
}
