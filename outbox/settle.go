package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// errUnsettled is the error of a phase that returned Settled and had not ended.
var errUnsettled = errors.New("the phase returned Settled without UnlockTx, " +
	"or its transaction was rolled back")

// Unlock ends the claimed task's phase and unlocks it for the next one, which any worker may claim at once.
// Done ends the task. Unlock returns ErrNotHeld when the claim is over.
func (s *Store) Unlock(ctx context.Context, t Task, next Phase) error {
	return s.UnlockTx(ctx, s.db, t, next)
}

// UnlockTx is Unlock within the caller's transaction, so that the phase takes effect exactly once. The
// transaction is in the same database: the phase's changes and its end commit together or not at all. The
// phase then returns Settled. After ErrNotHeld the caller rolls back.
func (s *Store) UnlockTx(ctx context.Context, tx Querier, t Task, next Phase) error {
	return s.unlock(ctx, tx, t, next, 0)
}

// unlock is UnlockTx, after which no worker claims the task before rest has passed.
func (s *Store) unlock(ctx context.Context, tx Querier, t Task, next Phase, rest time.Duration) error {
	if next == Done {
		return s.write(ctx, tx, t, `state = 'done', locked_at = $5, waiting_since = NULL, last_error = ''`,
			unlocked)
	}
	if next == Settled || next == "" || len(next) > maxName || strings.HasSuffix(string(next), " ") {
		return fmt.Errorf("%w: there is no phase %q to go on to", ErrInvalidTask, next)
	}
	lockedAt := int64(unlocked)
	if rest > 0 {
		now, err := s.now(ctx, tx)
		if err != nil {
			return err
		}
		lockedAt = now - s.timeout.Milliseconds() + rest.Milliseconds()
	}
	return s.write(ctx, tx, t, `phase = $5, locked_at = $6, waiting_since = NULL, last_error = ''`, string(next),
		lockedAt)
}

// Relock unlocks the claimed task for the same phase after a rest, see Backoff, and stores why. It returns
// ErrNotHeld when the claim is over.
func (s *Store) Relock(ctx context.Context, t Task, why string) error {
	return s.relock(ctx, t, why, 0)
}

// relock is Relock with a rest of at least least.
func (s *Store) relock(ctx context.Context, t Task, why string, least time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	lockedAt := now - s.timeout.Milliseconds() + max(Backoff(t.waited(now)), least).Milliseconds()
	return s.write(ctx, s.db, t, `locked_at = $5, last_error = $6`, lockedAt, plain(why))
}

// rest unlocks the claimed task for the same phase, and no worker claims it before d has passed.
func (s *Store) rest(ctx context.Context, t Task, d time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.write(ctx, s.db, t, `locked_at = $5`, now-s.timeout.Milliseconds()+d.Milliseconds())
}

// Release unlocks the claimed task for the same phase, without a rest. The claim still counts in Attempts.
// Release returns ErrNotHeld when the claim is over.
func (s *Store) Release(ctx context.Context, t Task) error {
	return s.write(ctx, s.db, t, `locked_at = $5`, unlocked)
}

// settled returns errUnsettled while the task still has its claim.
func (s *Store) settled(ctx context.Context, t Task) error {
	var n int
	err := row(ctx, s.db, s.dialect, `SELECT COUNT(*) FROM outbox_tasks
		WHERE id = $1 AND locked_at = $2 AND attempts = $3 AND state = 'open'`, t.ID, t.LockedAt,
		t.Attempts).Scan(&n)
	if err != nil {
		return fmt.Errorf("read task: %w", err)
	}
	if n > 0 {
		return errUnsettled
	}
	return nil
}

// GiveUp makes the claimed task dead until Retry, and stores why. It returns ErrNotHeld when the claim is
// over.
func (s *Store) GiveUp(ctx context.Context, t Task, why string) error {
	return s.write(ctx, s.db, t, `state = 'dead', locked_at = $5, last_error = $6`, unlocked, plain(why))
}

// write changes a task that still has its claim: $1 is now, $2–$4 the claim, the rest starts at $5.
func (s *Store) write(ctx context.Context, q Querier, t Task, set string, args ...any) error {
	now, err := s.now(ctx, q)
	if err != nil {
		return err
	}
	n, err := exec(ctx, q, s.dialect, `UPDATE outbox_tasks SET `+touch("$1")+`, `+set+`
		WHERE id = $2 AND locked_at = $3 AND attempts = $4 AND state = 'open'`,
		append([]any{now, t.ID, t.LockedAt, t.Attempts}, args...)...)
	if err != nil {
		return fmt.Errorf("write task: %w", err)
	}
	if n == 0 {
		return ErrNotHeld
	}
	return nil
}
