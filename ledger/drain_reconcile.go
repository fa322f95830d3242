package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

const reconcileEvery = time.Minute

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

// Reconcile ends as lost what the ledger has open in an epoch that its room is no longer in, while the
// room's journal has nothing more to say: an embedded store was started anew, say, and nobody has
// joined since. It goes on past a room that can not be asked; the error is the first one.
func (l *Ledger) Reconcile(ctx context.Context) error {
	open, err := l.openEpochs(ctx)
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	var failed error
	for id, epochs := range open {
		if err := l.reconcile(ctx, id, epochs); err != nil && failed == nil {
			failed = fmt.Errorf("reconcile %s: %w", id, err)
		}
	}
	return failed
}

// open are the rooms with open places or leases, and the epochs these are of.
func (l *Ledger) openEpochs(ctx context.Context) (map[room.ID][]int64, error) {
	found := make(map[room.ID][]int64)
	err := l.db.Read(ctx, func(s sqldb.Session) error {
		return s.Each(func(scan func(...any) error) error {
			var id room.ID
			var epoch int64
			err := scan(&id, &epoch)
			found[id] = append(found[id], epoch)
			return err
		}, `SELECT room, epoch FROM places WHERE outcome IS NULL UNION SELECT room, epoch FROM leases WHERE outcome IS NULL`)
	})
	return found, err
}

// reconcile compares a room with the epochs that were open before it is asked: one that begins
// meanwhile is not among them. Its journal is read after that: what it held of them is applied.
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

// laterFor is for how long a later epoch than its room's may be that of another master.
const newerMasterFor = 24 * time.Hour

// later is true of an epoch that somebody may have begun on a master which this replica does not know of yet: epochs grow, and are named by when they began (unix µs).
func ofNewerMaster(epoch int64, view room.View) bool {
	return view.Epoch != 0 && epoch > view.Epoch && view.Now-epoch/1000 < newerMasterFor.Milliseconds()
}
