package trim

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room/wire"
)

// rooms trims all rooms that have rows, in use or not.
func (r *round) rooms(ctx context.Context) error {
	for id := wire.ID(""); ; {
		var err error
		if id, err = r.nextRoom(ctx, id); err != nil || id == "" {
			return err
		}
		if err := r.room(ctx, id); err != nil {
			return fmt.Errorf("room %s: %w", id, err)
		}
	}
}

// room trims one room, step by step.
func (r *round) room(ctx context.Context, id wire.ID) error {
	if due, err := r.due(ctx, id); err != nil || !due {
		return err
	}
	if busy, err := r.pending(ctx, id); err != nil || busy {
		return err
	}
	for rows := stepRows; ; {
		began := time.Now()
		gone, done, err := r.step(ctx, id, rows)
		if err != nil {
			return err
		}
		r.count(gone)
		if gone.sum() == 0 && !done {
			rows *= 2 // rows that stay are in the way
		}
		if err := r.rest(ctx, time.Since(began)); err != nil {
			return err
		}
		if done {
			_, err := r.due(ctx, id)
			return err
		}
	}
}

// due reports whether the room has rows to delete. If it has none, due notes its oldest row and rests.
func (r *round) due(ctx context.Context, id wire.ID) (due bool, err error) {
	began := time.Now()
	var found ages
	err = r.cfg.DB.Read(ctx, func(s sqldb.Session) (err error) {
		found, err = (&work{s, id}).ages(stepRows)
		return err
	})
	if err != nil {
		return false, err
	}
	if found.oldest < r.before {
		return true, nil
	}
	r.oldest = min(r.oldest, found.oldest)
	return false, pause(ctx, time.Since(began)*trimRest)
}

// pending reports whether the room's journal has entries about as old as the rows to delete. They are drained
// first.
func (r *round) pending(ctx context.Context, id wire.ID) (bool, error) {
	list, err := r.cfg.Journal.ReadJournal(ctx, id, 1)
	if err != nil || len(list) == 0 {
		return false, err
	}
	at, err := schema.EntryTime(list[0].ID)
	return err != nil || at.UnixMilli() < r.before+trimPending.Milliseconds(), nil
}

// step deletes about so many rows of each table, the oldest first, in one transaction. done is true once no
// more are due.
func (r *round) step(ctx context.Context, id wire.ID, rows int) (gone trimmed, done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, trimWithin)
	defer cancel()
	err = r.inRoom(ctx, id, func(w *work) error {
		found, err := w.ages(rows)
		if err != nil {
			return err
		}
		before := r.before
		if done = found.full >= before; !done {
			before = found.full + 1
		}
		gone, err = w.trim(before, 4*rows) // some are of one instant
		return err
	})
	return gone, done, err
}

func (r *round) count(gone trimmed) {
	for table, n := range gone {
		r.gone[table] += n
		r.deleted.WithLabelValues(table).Add(float64(n))
	}
}

// rest leaves the database to others after a step, and while the ledger is behind.
func (r *round) rest(ctx context.Context, took time.Duration) error {
	if err := pause(ctx, max(took*trimRest, trimLeast)); err != nil {
		return err
	}
	for r.cfg.Behind() {
		if err := pause(ctx, trimBehind); err != nil {
			return err
		}
	}
	return r.set(ctx, trimTurn, "")
}

// tasks deletes finished and dead outbox tasks that are older than the retention; without webhooks, also open
// ones.
func (r *round) tasks(ctx context.Context) error {
	over := []outbox.State{outbox.Finished, outbox.Dead}
	if !r.cfg.Webhooks {
		over = append(over, outbox.Open)
	}
	for {
		began, n := time.Now(), int64(0)
		err := r.cfg.DB.Write(ctx, func(s sqldb.Session) (err error) {
			n, err = outbox.Trim(ctx, s, s.Dialect, r.before, outboxStep, over...)
			return err
		})
		if err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		r.count(trimmed{"outbox_tasks": n})
		if err := r.rest(ctx, time.Since(began)); err != nil || n < outboxStep {
			return err
		}
	}
}

// nextRoom returns the next room in the database's order; "" for none.
func (t *Trimmer) nextRoom(ctx context.Context, after wire.ID) (next wire.ID, err error) {
	err = t.cfg.DB.Read(ctx, func(s sqldb.Session) error {
		var found sql.NullString
		err := s.Row(nextRoomQuery, string(after)).Scan(&found)
		next = wire.ID(found.String)
		return err
	})
	return next, err
}

const nextRoomQuery = `SELECT MIN(r) FROM (SELECT MIN(room) AS r FROM timeline WHERE room > $1 UNION ALL
	SELECT MIN(room) FROM places WHERE room > $1
	UNION ALL SELECT MIN(room) FROM leases WHERE room > $1 UNION ALL SELECT MIN(room) FROM messages
	WHERE room > $1
	UNION ALL SELECT MIN(room) FROM verifications WHERE room > $1 UNION ALL SELECT MIN(room) FROM actions
	WHERE room > $1
	UNION ALL SELECT MIN(room) FROM attributions WHERE room > $1 UNION ALL SELECT MIN(room) FROM incidents
	WHERE room > $1
	UNION ALL SELECT MIN(room) FROM parked WHERE room > $1) q`
