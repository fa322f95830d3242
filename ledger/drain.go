package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// drainBatch is how many entries are read and applied at a time.
const drainBatch = 200

// Drain takes a room's journal into the ledger, up to its end: apply, tell the verdicts, trim. Any
// number of replicas may do so at once. An error leaves in the journal what is not certainly applied.
func (l *Ledger) Drain(ctx context.Context, id room.ID) error {
	if err := l.circuit.closed(); err != nil {
		return err
	}
	unlock, err := l.rooms.lock(ctx, id)
	if err != nil {
		l.suspect()
		return err
	}
	defer unlock()
	for {
		entries, err := l.cfg.Journal.ReadJournal(ctx, id, drainBatch)
		if err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		if err := l.take(ctx, id, entries); err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		if len(entries) < drainBatch {
			l.backlog.drained(id)
			return nil
		}
	}
}

// take applies entries, tells the rooms the verdicts in them, and trims the journal. The verdicts are
// told before the trim, also for entries that were applied before: whoever applied them may be dead.
func (l *Ledger) take(ctx context.Context, id room.ID, entries []room.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := l.apply(ctx, id, entries); err != nil {
		return err
	}
	if err := l.settle(ctx, id, entries); err != nil {
		return err
	}
	if err := l.cfg.Journal.TrimJournal(ctx, id, entries); err != nil {
		return err
	}
	l.metrics.drained(entries, l.cfg.Now())
	return nil
}

// apply writes all entries in one transaction; where one of them is odd, each in its own.
func (l *Ledger) apply(ctx context.Context, id room.ID, entries []room.Entry) error {
	err := l.inRoom(ctx, id, func(w *work) error { return w.entries(entries) })
	if err == nil || !odd(err) {
		return err
	}
	for _, e := range entries {
		err := l.inRoom(ctx, id, func(w *work) error { return w.entries([]room.Entry{e}) })
		if odd(err) {
			err = l.inRoom(ctx, id, func(w *work) error { return w.park(e, err) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle tells the rooms what became of the messages in entries.
func (l *Ledger) settle(ctx context.Context, id room.ID, entries []room.Entry) error {
	for _, e := range entries {
		for _, r := range e.Records {
			if r.Type != "message" || r.Result != room.Matched {
				continue
			}
			agreed, found, err := l.verdict(ctx, id, r)
			if err != nil {
				return err
			}
			if !found { // parked
				continue
			}
			if err := l.cfg.Rooms.SettleMatch(ctx, id, r.MessageID, agreed); err != nil {
				return fmt.Errorf("settle match: %w", err)
			}
		}
	}
	return nil
}

// entryTime is when Redis wrote an entry, which its id begins with.
func entryTime(e room.Entry) (time.Time, error) {
	var ms, n int64
	if _, err := fmt.Sscanf(e.ID, "%d-%d", &ms, &n); err != nil {
		return time.Time{}, errors.New("entry id is odd")
	}
	return time.UnixMilli(ms), nil
}
