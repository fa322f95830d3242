package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// portion is what a drain takes from one room's journal at a time.
type portion struct {
	id       room.ID
	entries  []room.Entry
	verdicts []verdict
	browsers map[int64][]string // that are to be told of a turn, by ticket
	told     map[match]bool     // the verdicts that the room has been told
}

// portions reads what the rooms' journals have.
func (l *Ledger) portions(ctx context.Context, ids []room.ID) (portions []*portion, failed error) {
	for _, j := range l.cfg.Journal.ReadJournals(ctx, ids, drainBatch) {
		switch {
		case j.Err != nil:
			failed = errors.Join(failed, fmt.Errorf("drain %s: %w", j.Room, j.Err))
		case len(j.Entries) == 0:
			l.backlog.drained(j.Room)
		default:
			portions = append(portions, &portion{id: j.Room, entries: j.Entries, told: make(map[match]bool)})
		}
	}
	return portions, failed
}

// take applies entries, tells the room the verdicts in them, and trims the journal.
func (l *Ledger) take(ctx context.Context, id room.ID, entries []room.Entry, told map[match]bool) error {
	if len(entries) == 0 {
		return nil
	}
	spans := l.spansOf(ctx, id, entries)
	verdicts, err := l.apply(ctx, id, entries)
	spans.end(err)
	if err != nil {
		return err
	}
	return l.applied(ctx, &portion{id: id, entries: entries, verdicts: verdicts, told: told})[0]
}
