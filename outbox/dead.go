package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// deadRows is how many dead tasks Dead lists at most.
const deadRows = 200

// Dead returns the dead tasks of these kinds, latest first, at most 200. Without kinds it returns those of
// all kinds.
func (s *Store) Dead(ctx context.Context, kinds ...string) ([]Task, error) {
	of, args := among(kinds, deadRows)
	query, args := s.dialect.Bind(`SELECT `+columns+` FROM outbox_tasks WHERE state = 'dead'`+of+`
		ORDER BY updated_at DESC, id DESC LIMIT $1`, args...)
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list dead tasks: %w", err)
	}
	tasks, err := scanTasks(rows)
	if err != nil {
		return nil, fmt.Errorf("read dead tasks: %w", err)
	}
	return tasks, nil
}

// Retry puts a dead task back into the phase in which it died. The phase has its full time again, from its
// next attempt. Retry returns ErrNotDead for any other task.
func (s *Store) Retry(ctx context.Context, id int64) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	n, err := exec(ctx, s.db, s.dialect, `UPDATE outbox_tasks
		SET state = 'open', locked_at = 0, waiting_since = NULL, `+touch("$1")+` WHERE id = $2 AND state = 'dead'`,
		now, id)
	if err != nil {
		return fmt.Errorf("retry task: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("%w: %d", ErrNotDead, id)
	}
	return nil
}

// RetryAll retries all dead tasks of these kinds, or of all kinds without any, and returns how many.
func (s *Store) RetryAll(ctx context.Context, kinds ...string) (int64, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	of, args := among(kinds, now)
	n, err := exec(ctx, s.db, s.dialect, `UPDATE outbox_tasks
		SET state = 'open', locked_at = 0, waiting_since = NULL, `+touch("$1")+` WHERE state = 'dead'`+of, args...)
	if err != nil {
		return 0, fmt.Errorf("retry all dead tasks: %w", err)
	}
	return n, nil
}

// Counts holds how many tasks are open and how many are dead.
type Counts struct {
	Pending int
	Dead    int
}

// Failure describes open tasks whose last attempt failed, or was not ready (ErrNotReady).
type Failure struct {
	Since int64  // unix ms: when the oldest of these tasks was put in; 0 = there is none
	Error string // of the last attempt
}

// Failing returns the failures among the open tasks of these kinds, or of all kinds without any.
func (s *Store) Failing(ctx context.Context, kinds ...string) (f Failure, err error) {
	of, args := among(kinds)
	tried := ` FROM outbox_tasks WHERE state = 'open' AND last_error <> ''` + of
	err = row(ctx, s.db, s.dialect, `SELECT COALESCE((SELECT MIN(created_at)`+tried+`), 0),
		COALESCE((SELECT last_error`+tried+` ORDER BY updated_at DESC, id DESC LIMIT 1), '')`,
		args...).Scan(&f.Since, &f.Error)
	if err != nil {
		return Failure{}, fmt.Errorf("look for failing tasks: %w", err)
	}
	return f, nil
}

// Count counts the tasks of these kinds, or of all kinds without any.
func (s *Store) Count(ctx context.Context, kinds ...string) (c Counts, err error) {
	of, args := among(kinds)
	err = row(ctx, s.db, s.dialect, `SELECT (SELECT COUNT(*) FROM outbox_tasks WHERE state = 'open'`+of+`),
		(SELECT COUNT(*) FROM outbox_tasks WHERE state = 'dead'`+of+`)`, args...).Scan(&c.Pending, &c.Dead)
	if err != nil {
		return Counts{}, fmt.Errorf("count tasks: %w", err)
	}
	return c, nil
}

// among returns a condition on the kind, and the arguments with the kinds appended.
func among(kinds []string, args ...any) (condition string, all []any) {
	var places []string
	for _, kind := range kinds {
		args = append(args, kind)
		places = append(places, fmt.Sprint("$", len(args)))
	}
	if len(places) == 0 {
		return "", args
	}
	return ` AND kind IN (` + strings.Join(places, ", ") + `)`, args
}

// forgetBatch bounds one clean-up, so that it holds no lock for long.
const forgetBatch = 1000

// Forget deletes tasks of a kind that have been done for longer than keep, and returns how many. It deletes
// at most a thousand at a time, and no dead ones.
func (s *Store) Forget(ctx context.Context, kind string, keep time.Duration) (int64, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	n, err := exec(ctx, s.db, s.dialect, `DELETE FROM outbox_tasks WHERE id IN (SELECT id FROM (
		SELECT id FROM outbox_tasks WHERE state = 'done' AND kind = $3 AND updated_at < $1 ORDER BY updated_at
		LIMIT $2) old)`,
		now-keep.Milliseconds(), forgetBatch, kind)
	if err != nil {
		return 0, fmt.Errorf("forget done tasks: %w", err)
	}
	return n, nil
}

// Trim deletes tasks of all kinds in some states that have not changed since an instant (unix ms). It deletes
// at most so many, and returns how many.
func Trim(ctx context.Context, q Querier, d Dialect, before int64, most int, states ...State) (deleted int64,
	err error) {
	for _, state := range states {
		n, err := exec(ctx, q, d, `DELETE FROM outbox_tasks WHERE id IN (SELECT id FROM (
			SELECT id FROM outbox_tasks WHERE state = $1 AND updated_at < $2 ORDER BY updated_at LIMIT $3) old)`,
			string(state), before, int64(most)-deleted)
		if err != nil {
			return deleted, fmt.Errorf("trim tasks: %w", err)
		}
		deleted += n
	}
	return deleted, nil
}
