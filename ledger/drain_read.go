package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	unknown := l.each(ctx, portions, pushWithin, func(ctx context.Context, p *portion) (err error) {
		p.browsers, err = l.browsers(ctx, p.id, p.entries)
		return err
	})
	for id, err := range unknown { // the journal goes on without pushes
		l.log.Debug("ledger does not know whom to push to", "room", string(id), "error", err)
	}
	return portions, failed
}

// each calls f with the portions of several rooms at the same time, with a deadline of its own for each. It
// returns the errors by room.
func (l *Ledger) each(ctx context.Context, portions []*portion, within time.Duration,
	f func(context.Context, *portion) error) map[room.ID]error {
	ids, of := make([]room.ID, len(portions)), make(map[room.ID]*portion, len(portions))
	for i, p := range portions {
		ids[i], of[p.id] = p.id, p
	}
	return l.cfg.Rooms.EachRoom(ctx, ids, within, func(ctx context.Context, id room.ID) error {
		return f(ctx, of[id])
	})
}
