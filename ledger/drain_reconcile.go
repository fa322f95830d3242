package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

const (
	reconcileEvery  = time.Minute
	reconcileWithin = 5 * time.Second // for one room, in Redis and in the database
)

func (l *Ledger) reconcileAlways(ctx context.Context) error {
	for {
		wait := reconcileEvery
		if err := l.Reconcile(ctx); err != nil && ctx.Err() == nil {
			l.log.Warn("ledger was not reconciled", "error", err)
			wait /= 12
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// Reconcile ends open places and leases as lost whose epoch is over and whose room has an empty journal. This
// happens when an embedded store starts anew and no seller has joined since. Reconcile continues after a room
// that fails, and returns one of the errors.
func (l *Ledger) Reconcile(ctx context.Context) error {
	open, err := l.openEpochs(ctx)
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	failed := l.cfg.Rooms.EachRoom(ctx, slices.Collect(maps.Keys(open)), reconcileWithin,
		func(ctx context.Context, id room.ID) error { return l.reconcile(ctx, id, open[id]) })
	for id, err := range failed {
		return fmt.Errorf("reconcile %s, one of %d rooms that failed: %w", id, len(failed), err)
	}
	return nil
}

// openEpochs returns the rooms with open places or leases, with their epochs.
func (l *Ledger) openEpochs(ctx context.Context) (map[room.ID][]int64, error) {
	found := make(map[room.ID][]int64)
	err := l.db.Read(ctx, func(s sqldb.Session) error {
		return s.Each(func(scan func(...any) error) error {
			var id room.ID
			var epoch int64
			err := scan(&id, &epoch)
			found[id] = append(found[id], epoch)
			return err
		}, `SELECT room, epoch FROM places WHERE outcome IS NULL UNION SELECT room, epoch FROM leases
			WHERE outcome IS NULL`)
	})
	return found, err
}

// reconcile compares a room's current epoch with the epochs that had open rows before. It reads the journal
// after the room's state, so that entries of those epochs are applied first.
func (l *Ledger) reconcile(ctx context.Context, id room.ID, epochs []int64) error {
	view, _, err := l.cfg.Rooms.Look(ctx, id)
	if err != nil {
		return err
	}
	pending, err := l.cfg.Journal.ReadJournal(ctx, id, 1)
	if err != nil || len(pending) > 0 {
		return err
	}
	for _, epoch := range epochs {
		if epoch == view.Epoch || ofNewerMaster(epoch, view) {
			continue
		}
		l.log.Warn("ledger ends an epoch's open places as lost", "room", string(id), "epoch", epoch)
		err := l.inRoom(ctx, id, func(w *work) error { return w.endAsLost(epoch, view.Now) })
		if err != nil {
			return err
		}
	}
	return nil
}

// newerMasterFor is how long after it began an epoch above the room's current one may be a newer master's.
const newerMasterFor = 24 * time.Hour

// ofNewerMaster reports whether an epoch may come from a master that this replica does not know yet. Epochs
// grow, and are named by when they began (unix µs).
func ofNewerMaster(epoch int64, view room.View) bool {
	return view.Epoch != 0 && epoch > view.Epoch && view.Now-epoch/1000 < newerMasterFor.Milliseconds()
}
