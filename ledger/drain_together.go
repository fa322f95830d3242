package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// togetherMost bounds how many rooms' journals go into one transaction: whoever wants to write meanwhile waits for all of them.
const togetherMost = 16

// portion is what a drain takes from one room's journal at a time.
type portion struct {
	id       room.ID
	entries  []room.Entry
	verdicts []verdict
	browsers map[int64][]string // that are to be told of a turn, by ticket
	told     map[match]bool     // the verdicts that the room has been told
}

// drainTogether drains several rooms, what they have now in one transaction. A room that can not be drained holds up no other; the error is all of theirs.
func (l *Ledger) drainTogether(ctx context.Context, ids []room.ID) error {
	if len(ids) == 1 {
		return l.Drain(ctx, ids[0])
	}
	if err := l.db.Away(); err != nil {
		return err
	}
	slices.Sort(ids) // as everybody else does who waits for several
	ids = slices.Compact(ids)
	locks := make(map[room.ID]func())
	defer func() {
		for _, unlock := range locks {
			unlock()
		}
	}()
	for _, id := range ids {
		unlock, err := l.rooms.lock(ctx, id)
		if err != nil {
			l.db.Suspect()
			return err
		}
		locks[id] = unlock
	}
	portions, failed := l.portions(ctx, ids)
	if err := l.applyTogether(ctx, portions); err != nil {
		return errors.Join(failed, fmt.Errorf("drain: %w", err))
	}
	var long []*portion
	for i, err := range l.applied(ctx, portions...) {
		switch p := portions[i]; {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("drain %s: %w", p.id, err))
		case len(p.entries) == drainBatch:
			long = append(long, p)
		default:
			l.backlog.drained(p.id)
		}
	}
	return errors.Join(failed, l.finish(ctx, long, locks))
}

// finish drains to their ends the rooms that have more than one portion. All others are given free first: a journal that has grown while the database was away
// takes seconds, and theirs must not wait for it.
func (l *Ledger) finish(ctx context.Context, long []*portion, locks map[room.ID]func()) (failed error) {
	for id, unlock := range locks {
		if !slices.ContainsFunc(long, func(p *portion) bool { return p.id == id }) {
			unlock()
			delete(locks, id)
		}
	}
	for _, p := range long {
		failed = errors.Join(failed, l.drainLocked(ctx, p.id, p.told))
		locks[p.id]()
		delete(locks, p.id)
	}
	return failed
}

// drainAgain is how long DrainAll waits until it tries again what failed.
const drainAgain = 50 * time.Millisecond

// DrainAll drains rooms that nobody writes to any more until their journals are empty, also of what the room writes when it is told a verdict. It tries again
// what fails until ctx ends; the error is the first one of the last try then. It is for a store whose journals are about to end.
func (l *Ledger) DrainAll(ctx context.Context, ids []room.ID) error {
	for {
		left, failed := l.undrained(ctx, ids)
		for some := range slices.Chunk(left, togetherMost) {
			if err := l.drainTogether(ctx, some); failed == nil {
				failed = err
			}
		}
		switch {
		case failed == nil && len(left) == 0:
			return nil
		case failed != nil && pause(ctx, drainAgain) != nil:
			return failed
		}
	}
}

// undrained are those of some rooms whose journals have entries.
func (l *Ledger) undrained(ctx context.Context, ids []room.ID) (left []room.ID, failed error) {
	for _, j := range l.cfg.Journal.ReadJournals(ctx, ids, 1) {
		if len(j.Entries) > 0 {
			left = append(left, j.Room)
		}
		if failed == nil {
			failed = j.Err
		}
	}
	return left, failed
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

// applyTogether writes all portions in one transaction; where something in them is odd, each in its own.
func (l *Ledger) applyTogether(ctx context.Context, portions []*portion) (err error) {
	if len(portions) == 0 {
		return nil
	}
	var spans spans
	defer func() { spans.end(err) }()
	for _, p := range portions {
		spans = append(spans, l.spansOf(ctx, p.id, p.entries)...)
	}
	for _, p := range portions {
		p.browsers = l.browsers(ctx, p.id, p.entries)
	}
	if err = l.applyPortions(ctx, portions); err == nil || !sqldb.OfData(err) {
		return err
	}
	for _, p := range portions {
		if p.verdicts, err = l.apply(ctx, p.id, p.entries); err != nil {
			return err
		}
	}
	return nil
}

// applyPortions writes what several rooms' journals had, in one transaction.
func (l *Ledger) applyPortions(ctx context.Context, portions []*portion) error {
	ids, runs := make([]room.ID, len(portions)), make([]*run, len(portions))
	for i, p := range portions {
		notes, err := notesOf(p.entries)
		if err != nil {
			return err
		}
		ids[i], runs[i] = p.id, &run{notes: notes}
	}
	return l.inRooms(ctx, ids, func(s sqldb.Session, works []*work) error {
		for i, w := range works {
			w.browsers, runs[i].work = portions[i].browsers, w
		}
		err := apply(s, runs)
		for i, w := range works {
			portions[i].verdicts = w.verdicts
		}
		return err
	})
}
