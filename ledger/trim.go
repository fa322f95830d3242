package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
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
// hundred rows, with rests. It does nothing if a process trims, or finished within the last hour. Rows that
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
	oldest int64 // unix ms: time of the oldest row that remains
	gone   trimmed
}

// begin tries to take the turn to trim, which one replica has at a time, and reports whether it did. It also
// reads the last round's result.
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

// extendTurn keeps other replicas from trimming for longer.
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
