package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Store is the tasks of one database. It holds nothing itself.
type Store struct {
	db      *sql.DB
	dialect Dialect
	clock   func() time.Time // for tests; nil = the database's own
}

// NewStore works on a database that has the Schema; db stays the caller's to close. A nil clock is the
// one all workers of the database share, see Dialect.
func NewStore(db *sql.DB, d Dialect, clock func() time.Time) *Store {
	return &Store{db: db, dialect: d, clock: clock}
}

// Now is the time by which tasks are claimed, in unix ms.
func (s *Store) Now(ctx context.Context) (int64, error) {
	if s.clock != nil {
		return s.clock().UnixMilli(), nil
	}
	ms, err := s.dialect.Now(ctx, s.db)
	if err != nil {
		return 0, fmt.Errorf("read clock: %w", err)
	}
	return ms, nil
}

// Claim takes the task that has been free for longest as of `asOf` (unix ms), in one update; ok is
// false when there is none. A task waits for the earlier ones of its lease. A worker passes the time
// its tick began, so that no task is tried twice in one tick.
func (s *Store) Claim(ctx context.Context, asOf int64) (task Task, ok bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Task{}, false, err
	}
	task, err = scanTask(s.db.QueryRowContext(ctx, s.dialect.Bind(`
		UPDATE outbox_tasks SET locked_at = $1, updated_at = $1, attempts = attempts + 1,
			waiting_since = COALESCE(waiting_since, $1)
		WHERE id = (
			SELECT t.id FROM outbox_tasks t
			WHERE t.phase IN ('deliver', 'record') AND t.locked_at < $2 AND NOT EXISTS (
				SELECT 1 FROM outbox_tasks e
				WHERE e.lease_key = t.lease_key AND e.seq < t.seq AND e.phase IN ('deliver', 'record'))
			ORDER BY t.locked_at, t.id LIMIT 1 `+s.dialect.SkipLocked()+`)
		RETURNING `+columns), now, asOf-LockTimeout.Milliseconds()))
	if errors.Is(err, sql.ErrNoRows) {
		return Task{}, false, nil
	}
	if err != nil {
		return Task{}, false, fmt.Errorf("claim task: %w", err)
	}
	return task, true, nil
}

// Unlock says that the claimed task's phase is over and gives it back for the next one, which may be
// claimed at once, by anybody. ErrNotHeld when the claim was taken over.
func (s *Store) Unlock(ctx context.Context, t Task, next Phase) error {
	return s.write(ctx, t, `phase = $5, locked_at = $6, waiting_since = NULL, last_error = ''`, string(next), unlocked)
}

// Relock gives the claimed task back to be claimed again after a while, see Backoff; one tried for
// over 24 hours is dead instead. why is kept for support. ErrNotHeld when the claim was taken over.
func (s *Store) Relock(ctx context.Context, t Task, why string) (Phase, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return t.Phase, err
	}
	waited := time.Duration(now-t.WaitingSince) * time.Millisecond
	if waited >= deadAfter && t.Phase == Deliver {
		return Dead, s.write(ctx, t, `phase = 'dead', locked_at = $5, last_error = $6`, unlocked, why)
	}
	lockedAt := now - LockTimeout.Milliseconds() + Backoff(waited).Milliseconds()
	return t.Phase, s.write(ctx, t, `locked_at = $5, last_error = $6`, lockedAt, why)
}

// write changes a task that is still as its claim left it: $1 now, $2–$4 the claim, the rest from $5.
func (s *Store) write(ctx context.Context, t Task, set string, args ...any) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	res, err := s.db.ExecContext(ctx, s.dialect.Bind(`UPDATE outbox_tasks SET updated_at = $1, `+set+`
		WHERE id = $2 AND locked_at = $3 AND attempts = $4 AND phase IN ('deliver', 'record')`),
		append([]any{now, t.ID, t.LockedAt, t.Attempts}, args...)...)
	if err != nil {
		return fmt.Errorf("write task: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrNotHeld, err)
	}
	return nil
}
