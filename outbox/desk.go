package outbox

import (
	"context"
	"fmt"
	"time"
)

// deskRows is how many dead tasks are listed at a time.
const deskRows = 200

// Dead lists tasks that were given up, the latest first.
func (s *Store) Dead(ctx context.Context) ([]Task, error) {
	rows, err := s.db.QueryContext(ctx, s.dialect.Bind(`SELECT `+columns+` FROM outbox_tasks
		WHERE phase = 'dead' ORDER BY updated_at DESC, id DESC LIMIT $1`), deskRows)
	if err != nil {
		return nil, fmt.Errorf("list dead tasks: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var tasks []Task
	for rows.Next() {
		t, err := scanTask(rows)
		if err != nil {
			return nil, fmt.Errorf("read dead task: %w", err)
		}
		tasks = append(tasks, t)
	}
	return tasks, rows.Err()
}

// Retry gives a dead task another 24 hours, from its next attempt. ErrNotDead when it is not dead.
func (s *Store) Retry(ctx context.Context, id int64) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	res, err := s.db.ExecContext(ctx, s.dialect.Bind(`UPDATE outbox_tasks
		SET phase = 'deliver', locked_at = 0, waiting_since = NULL, updated_at = $1 WHERE id = $2 AND phase = 'dead'`), now, id)
	if err != nil {
		return fmt.Errorf("retry task: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("%w: %d", ErrNotDead, id)
	}
	return nil
}

// Counts is how many tasks there are to do and how many were given up.
type Counts struct {
	Pending int
	Dead    int
}

// Count counts tasks.
func (s *Store) Count(ctx context.Context) (c Counts, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT COUNT(*) FROM outbox_tasks WHERE phase IN ('deliver', 'record')),
		(SELECT COUNT(*) FROM outbox_tasks WHERE phase = 'dead')`).Scan(&c.Pending, &c.Dead)
	if err != nil {
		return Counts{}, fmt.Errorf("count tasks: %w", err)
	}
	return c, nil
}

// forgetBatch bounds one clean-up, so that it holds no lock for long.
const forgetBatch = 1000

// Forget deletes tasks done for longer than keep, at most a thousand at a time, and says how many.
func (s *Store) Forget(ctx context.Context, keep time.Duration) (int64, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	res, err := s.db.ExecContext(ctx, s.dialect.Bind(`DELETE FROM outbox_tasks WHERE id IN (
		SELECT id FROM outbox_tasks WHERE phase = 'done' AND updated_at < $1 ORDER BY updated_at LIMIT $2)`),
		now-keep.Milliseconds(), forgetBatch)
	if err != nil {
		return 0, fmt.Errorf("forget done tasks: %w", err)
	}
	return res.RowsAffected()
}

// Trim deletes tasks of some phases that nobody has touched since before an instant (unix ms), at most so many, and says how many.
func Trim(ctx context.Context, q Querier, d Dialect, before int64, most int, phases ...Phase) (deleted int64, err error) {
	for _, phase := range phases {
		res, err := q.ExecContext(ctx, d.Bind(`DELETE FROM outbox_tasks WHERE id IN (
			SELECT id FROM outbox_tasks WHERE phase = $1 AND updated_at < $2 ORDER BY updated_at LIMIT $3)`), string(phase), before, int64(most)-deleted)
		if err != nil {
			return deleted, fmt.Errorf("trim tasks: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return deleted, fmt.Errorf("trim tasks: %w", err)
		}
		deleted += n
	}
	return deleted, nil
}
