package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/room"
)

const (
	drainers   = 4
	drainBatch = 500 // entries of one room in one portion
	// The rooms in one transaction, and about how many entries. Each transaction writes the pages that it
	// changes once, so larger ones cost less; other writers wait for all of it.
	maxRooms    = 128
	maxEntries  = 2000
	drainWithin = 20 * time.Second
	drainAgain  = 50 * time.Millisecond // between DrainAll's tries
)

// Run drains the rooms that JournalSeen queues, until ctx ends; it returns ctx's error. It also queues rooms
// again that JournalSeen stopped naming, reconciles at once and every minute, and trims. While the database
// is away, Run keeps retrying.
func (l *Ledger) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range drainers {
		g.Go(func() error { return l.drainQueue(ctx) })
	}
	g.Go(func() error { return l.requeueStale(ctx) })
	g.Go(func() error { return l.writeRefusedAlways(ctx) })
	g.Go(func() error { return l.reconcileAlways(ctx) })
	if l.cfg.Retention > 0 {
		g.Go(func() error { return l.Trimmer.Run(ctx) })
	}
	return g.Wait()
}

// drainQueue drains queued rooms, several at a time, until ctx ends; it returns ctx's error.
func (l *Ledger) drainQueue(ctx context.Context) error {
	for {
		ids, err := l.backlog.next(ctx)
		if err != nil {
			return err
		}
		bounded, cancel := context.WithTimeout(ctx, drainWithin)
		_, err = l.drain(bounded, ids)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) && l.failureLog.Allow() {
			l.log.Error("ledger failed to drain rooms' journals; it will retry", "rooms", ids, "error", err)
		}
	}
}

// Drain takes a room's journal into the ledger, up to its end, and trims the journal. Any number of replicas
// may drain a room at once. After an error, the journal still has each entry that may not be applied.
func (l *Ledger) Drain(ctx context.Context, id room.ID) error {
	_, err := l.drain(ctx, []room.ID{id})
	return err
}

// drain is Drain for several rooms. It returns the verdicts that it sent to the rooms, also beside an error.
// A room whose journal cannot be read or trimmed holds up no other; an error of the transaction is all
// rooms'. Once a journal turns out to be longer than one portion, drain unlocks the other rooms first: after
// an outage of the database a long one takes seconds.
func (l *Ledger) drain(ctx context.Context, ids []room.ID) (sent settled, failed error) {
	if err := l.db.Away(); err != nil {
		return nil, err
	}
	locked, err := l.rooms.lock(ctx, ids)
	if err != nil {
		l.db.Suspect()
		return nil, err
	}
	defer locked.unlock()
	sent = make(settled)
	long, failed := l.drainPortions(ctx, locked.ids(), sent)
	locked.unlockExcept(long)
	for _, id := range long {
		for more := []room.ID{id}; len(more) > 0; {
			more, err = l.drainPortions(ctx, more, sent)
			failed = errors.Join(failed, err)
		}
		locked.unlockOne(id)
	}
	return sent, failed
}

// drainPortions drains a portion of each room's journal, in one transaction. It returns the rooms whose
// journals may have more entries.
func (l *Ledger) drainPortions(ctx context.Context, ids []room.ID, sent settled) (long []room.ID,
	failed error) {
	portions, failed := l.readPortions(ctx, ids)
	spans := l.spansOf(ctx, portions)
	err := l.apply(ctx, portions)
	spans.end(err)
	if err != nil {
		return nil, errors.Join(failed, fmt.Errorf("drain: %w", err))
	}
	for i, err := range l.settle(ctx, portions, sent) {
		switch p := portions[i]; {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("drain %s: %w", p.id, err))
		case len(p.entries) == drainBatch:
			long = append(long, p.id)
		default:
			l.backlog.drained(p.id)
		}
	}
	return long, failed
}

// DrainAll drains rooms that no longer change until their journals are empty, also of the entries that
// verdicts add. It retries until ctx ends, and then returns the first error of the last try. It is for a
// store that is about to lose its journals.
func (l *Ledger) DrainAll(ctx context.Context, ids []room.ID) error {
	for {
		left, failed := l.undrained(ctx, ids)
		for some := range slices.Chunk(left, maxRooms) {
			if _, err := l.drain(ctx, some); failed == nil {
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

// undrained returns the rooms whose journals have entries.
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
