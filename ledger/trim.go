package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

const (
	trimEvery    = time.Hour       // from the end of a round to the next
	trimAskEvery = time.Minute     // how often a replica checks whether a round is due
	trimTurn     = 5 * time.Minute // a replica without a step for so long has lost its turn
	// rest after a step, as a multiple of the step's time: at most a tenth of the database's time
	trimRest    = 9
	trimLeast   = 5 * time.Millisecond
	trimBehind  = time.Second      // between checks whether the ledger is still behind
	trimPending = 2 * time.Hour    // journal entries this close to the horizon are drained before the trim
	trimWithin  = 10 * time.Second // one step
	outboxStep  = 1000
)

// trimAlways trims in rounds, one replica at a time, until ctx ends; it returns ctx's error.
func (l *Ledger) trimAlways(ctx context.Context) error {
	for {
		if _, err := l.Trim(ctx); err != nil && ctx.Err() == nil {
			l.log.Warn("ledger was not trimmed; it will be tried again", "error", err)
		}
		if err := pause(ctx, trimAskEvery); err != nil {
			return err
		}
	}
}

// Trim deletes rows that are older than Config.Retention, and returns how many. It works in steps of a few
// hundred rows, with rests. It does nothing if another process trims, or did within the hour. Rows that
// belong together go together; each room's highest fence and ticket stay known.
func (l *Ledger) Trim(ctx context.Context) (rows int64, err error) {
	if l.cfg.Retention <= 0 {
		return 0, nil
	}
	r := &round{Ledger: l, gone: make(trimmed), oldest: never}
	mine, err := r.begin(ctx)
	if err != nil || !mine {
		return 0, err
	}
	if err = r.rooms(ctx); err == nil {
		err = r.tasks(ctx)
	}
	rows = r.gone.sum()
	if rows > 0 {
		l.log.InfoContext(ctx, "ledger has trimmed what is older than its retention", "rows", rows, "retention",
			l.cfg.Retention, "whole", err == nil)
	}
	if err != nil {
		return rows, fmt.Errorf("trim: %w", err)
	}
	return rows, r.end(ctx)
}

// round is one pass over all rooms.
type round struct {
	*Ledger
	before int64 // unix ms: older rows are deleted
	oldest int64 // remaining row
	gone   trimmed
}

// begin takes the turn, and reads the last round's result.
func (r *round) begin(ctx context.Context) (mine bool, err error) {
	var now int64
	err = r.db.Transact(ctx, trimKey, func(s sqldb.Session) (err error) {
		if now, err = s.Dialect.Now(ctx, s); err != nil {
			return err
		}
		n, err := s.Exec(`UPDATE retention SET owner = $1, until = $2 WHERE id = 1 AND until <= $3`, r.name,
			now+trimTurn.Milliseconds(), now)
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take turn: %w", err)
	}
	// The earlier clock counts, so that a clock that is ahead does not delete rows too early.
	r.before = min(now, r.cfg.Now().UnixMilli()) - r.cfg.Retention.Milliseconds()
	return mine, r.readOldest(ctx)
}

// trimKey is the transaction's key; no room has this id.
const trimKey = "retention "

// extendTurn keeps the turn.
func (r *round) extendTurn(ctx context.Context) error { return r.set(ctx, trimTurn, "") }

// errTurnLost is returned when another process has taken the turn.
var errTurnLost = errors.New("another replica has the turn by now")

func (r *round) set(ctx context.Context, until time.Duration, more string, args ...any) error {
	return r.db.Write(ctx, func(s sqldb.Session) error {
		now, err := s.Dialect.Now(ctx, s)
		if err != nil {
			return err
		}
		n, err := s.Exec(`UPDATE retention SET until = $2`+more+` WHERE id = 1 AND owner = $1`,
			append([]any{r.name, now + until.Milliseconds()}, args...)...)
		if err == nil && n == 0 {
			err = errTurnLost
		}
		return err
	})
}

// end makes the next round due in an hour, for any replica.
func (r *round) end(ctx context.Context) error {
	if r.oldest == never {
		r.oldest = 0
	}
	if err := r.set(ctx, trimEvery, `, oldest = $3`, r.oldest); err != nil {
		return err
	}
	r.metrics.oldest.Store(r.oldest)
	return nil
}

// readOldest reads the result of the last round, of any replica.
func (l *Ledger) readOldest(ctx context.Context) error {
	return l.db.Read(ctx, func(s sqldb.Session) error {
		var oldest int64
		err := s.Row(`SELECT oldest FROM retention WHERE id = 1`).Scan(&oldest)
		if err == nil {
			l.metrics.oldest.Store(oldest)
		}
		return err
	})
}

// rooms trims all rooms that have rows, in use or not.
func (r *round) rooms(ctx context.Context) error {
	for id := room.ID(""); ; {
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
func (r *round) room(ctx context.Context, id room.ID) error {
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

// due reports whether the room has rows to delete.
func (r *round) due(ctx context.Context, id room.ID) (due bool, err error) {
	began := time.Now()
	var found ages
	err = r.reading(ctx, id, func(w *work) (err error) { found, err = w.ages(stepRows); return err })
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
func (r *round) pending(ctx context.Context, id room.ID) (bool, error) {
	list, err := r.cfg.Journal.ReadJournal(ctx, id, 1)
	if err != nil || len(list) == 0 {
		return false, err
	}
	at, err := entryTime(list[0])
	return err != nil || at.UnixMilli() < r.before+trimPending.Milliseconds(), nil
}

// step deletes about so many rows of each table, the oldest first, in one transaction. done is true once no
// more are due.
func (r *round) step(ctx context.Context, id room.ID, rows int) (gone trimmed, done bool, err error) {
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
		r.metrics.trimmed.WithLabelValues(table).Add(float64(n))
	}
}

// rest leaves the database to others after a step, and while the ledger is behind.
func (r *round) rest(ctx context.Context, took time.Duration) error {
	if err := pause(ctx, max(took*trimRest, trimLeast)); err != nil {
		return err
	}
	for r.Status().Behind {
		if err := pause(ctx, trimBehind); err != nil {
			return err
		}
	}
	return r.extendTurn(ctx)
}

// tasks deletes outbox tasks that are finished or dead for as long; without webhooks, also open ones.
func (r *round) tasks(ctx context.Context) error {
	over := []outbox.State{outbox.Finished, outbox.Dead}
	if !r.cfg.Webhooks {
		over = append(over, outbox.Open)
	}
	for {
		began, n := time.Now(), int64(0)
		err := r.db.Write(ctx, func(s sqldb.Session) (err error) {
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
func (l *Ledger) nextRoom(ctx context.Context, after room.ID) (next room.ID, err error) {
	err = l.db.Read(ctx, func(s sqldb.Session) error {
		var found sql.NullString
		err := s.Row(nextRoomQuery, string(after)).Scan(&found)
		next = room.ID(found.String)
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
