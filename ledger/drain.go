package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// drainBatch is how many entries are read and applied at a time.
const drainBatch = 500

// Drain takes a room's journal into the ledger, up to its end: apply, tell the verdicts, trim. Any
// number of replicas may do so at once. An error leaves in the journal what is not certainly applied.
func (l *Ledger) Drain(ctx context.Context, id room.ID) error {
	_, err := l.drain(ctx, id)
	return err
}

// drain is Drain. It also returns the verdicts on what it found in the journal, those that the room has been
// told; also beside an error.
func (l *Ledger) drain(ctx context.Context, id room.ID) (told map[match]bool, err error) {
	if err := l.db.Away(); err != nil {
		return nil, err
	}
	unlock, err := l.rooms.lock(ctx, id)
	if err != nil {
		l.db.Suspect()
		return nil, err
	}
	defer unlock()
	told = make(map[match]bool)
	return told, l.drainLocked(ctx, id, told)
}

// drainLocked drains a room that nobody else of this process drains meanwhile.
func (l *Ledger) drainLocked(ctx context.Context, id room.ID, told map[match]bool) error {
	for {
		entries, err := l.cfg.Journal.ReadJournal(ctx, id, drainBatch)
		if err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		if err := l.take(ctx, id, entries, told); err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		if len(entries) < drainBatch {
			l.backlog.drained(id)
			return nil
		}
	}
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

// applied tells the rooms the verdicts in entries that were applied, and trims the journals; each room has an error of its own. The verdicts are
// told before the trim, also for entries that were applied before: whoever applied them may be dead.
func (l *Ledger) applied(ctx context.Context, portions ...*portion) []error {
	failed, journals, of := make([]error, len(portions)), make([]room.Journal, 0, len(portions)), make([]int, 0, len(portions))
	for i, p := range portions {
		if failed[i] = l.tellAll(ctx, p); failed[i] == nil {
			l.unsubscribe(ctx, p.id, p.entries)
			journals, of = append(journals, room.Journal{Room: p.id, Entries: p.entries}), append(of, i)
		}
	}
	for i, err := range l.cfg.Journal.TrimJournals(ctx, journals) {
		if failed[of[i]] = err; err == nil {
			l.metrics.drained(journals[i].Entries, l.cfg.Now())
		}
	}
	return failed
}

// tellAll tells the room the verdicts in a portion.
func (l *Ledger) tellAll(ctx context.Context, p *portion) error {
	for _, v := range p.verdicts {
		if err := l.tell(ctx, p.id, v); err != nil {
			return err
		}
		p.told[v.match] = v.agreed
	}
	return nil
}

// apply writes entries in one transaction; where one of them is odd, each half in its own, until that one is alone and is parked. It returns
// the verdicts on their matches, in the journal's order.
func (l *Ledger) apply(ctx context.Context, id room.ID, entries []room.Entry) (verdicts []verdict, err error) {
	verdicts, err = l.applyAtOnce(ctx, id, entries)
	if err == nil || !sqldb.OfData(err) {
		return verdicts, err
	}
	if len(entries) == 1 {
		return nil, l.inRoom(ctx, id, func(w *work) error { return w.park(entries[0], err) })
	}
	half := len(entries) / 2
	first, err := l.apply(ctx, id, entries[:half])
	if err != nil {
		return nil, err
	}
	second, err := l.apply(ctx, id, entries[half:])
	return append(first, second...), err
}

func (l *Ledger) applyAtOnce(ctx context.Context, id room.ID, entries []room.Entry) (verdicts []verdict, err error) {
	p := &portion{id: id, entries: entries, browsers: l.browsers(ctx, id, entries)}
	err = l.applyPortions(ctx, []*portion{p})
	return p.verdicts, err
}

// entryTime is when Redis wrote an entry, which its id begins with.
func entryTime(e room.Entry) (time.Time, error) {
	id := parseEntryID(e.ID)
	if id.ms > math.MaxInt64 {
		return time.Time{}, errors.New("entry id is odd")
	}
	return time.UnixMilli(int64(id.ms)), nil
}
