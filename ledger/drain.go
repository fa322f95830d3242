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
	drainers    = 4
	drainWithin = 20 * time.Second
)

// drainBatch is how many entries are read and applied at a time.
const drainBatch = 500

// togetherMost bounds how many rooms' journals go into one transaction: whoever wants to write meanwhile waits for all of them.
const togetherMost = 16

// Run drains the rooms that Looked names, and looks again at those that it names no more; it reconciles, at once and every minute, and trims, until ctx ends; it
// returns ctx's error. While the database is away it keeps trying.
func (l *Ledger) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range drainers {
		g.Go(func() error { return l.drainQueue(ctx) })
	}
	g.Go(func() error { return l.lookAgain(ctx) })
	g.Go(func() error { return l.reconcileAlways(ctx) })
	if l.cfg.Retention > 0 {
		g.Go(func() error { return l.trimAlways(ctx) })
	}
	return g.Wait()
}

func (l *Ledger) drainQueue(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case id := <-l.backlog.queue:
			l.drainQueued(ctx, l.backlog.taken(id))
		}
	}
}

func (l *Ledger) drainQueued(ctx context.Context, ids []room.ID) {
	ctx, cancel := context.WithTimeout(ctx, drainWithin)
	defer cancel()
	err := l.drainTogether(ctx, ids)
	if err != nil && !errors.Is(err, context.Canceled) && l.failureLog.Allow() {
		l.log.Error("ledger does not take in rooms' journals; it will try again", "rooms", ids, "error", err)
	}
}

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
