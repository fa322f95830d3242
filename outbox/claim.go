package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// claimable selects the oldest free task t of kind $2: its locked_at is before $1 (0 = it is unlocked) or
// after $3, and no earlier open task has its key.
const claimable = `FROM outbox_tasks t
	WHERE t.state = 'open' AND t.kind = $2 AND (t.locked_at < $1 OR t.locked_at > $3) AND (t.task_key = ''
	OR NOT EXISTS (` + before + `))
	ORDER BY t.updated_at, t.id LIMIT 1 `

// before selects the open tasks e that must be done before t.
const before = `SELECT 1 FROM outbox_tasks e WHERE e.task_key = t.task_key AND e.state = 'open'
	AND e.id < t.id`

// Claim locks and returns the oldest free task of a kind; ok is false if there is none. A task is free when
// it is unlocked, or when its lock has lasted longer than LockTimeout at asOf (unix ms). A worker passes the
// time at which its tick began, so that it tries no task twice in one tick. Concurrent claims get different
// tasks.
func (s *Store) Claim(ctx context.Context, kind string, asOf int64) (t Task, ok bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Task{}, false, err
	}
	// No claim and no rest sets locked_at this late, unless the clock was ahead and was set back.
	free := []any{asOf - s.timeout.Milliseconds(), kind,
		now + max(s.timeout+slowRest, mostAsked).Milliseconds()}
	switch s.dialect {
	case MySQL:
		t, err = s.claimMySQL(ctx, free, now)
	case SQLite:
		t, err = s.claimSQLite(ctx, free, now)
	default:
		t, err = s.claimPostgres(ctx, free, now)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Task{}, false, nil
	}
	if err != nil {
		return Task{}, false, fmt.Errorf("claim task: %w", err)
	}
	return t, true, nil
}

func (s *Store) claimPostgres(ctx context.Context, free []any, now int64) (Task, error) {
	return scanTask(row(ctx, s.db, Postgres, `
		UPDATE outbox_tasks SET locked_at = $4, attempts = attempts + 1, waiting_since = COALESCE(waiting_since,
		$4), `+touch("$4")+`
		WHERE id = (SELECT t.id `+claimable+Postgres.SkipLocked()+`)
		RETURNING `+columns, append(free, now)...))
}

// claimSQLite searches before it takes the write lock, which only one writer can have. With thousands of
// resting or waiting tasks the search takes hundredths of a second, and the lane of an unreachable receiver
// searches all the time.
func (s *Store) claimSQLite(ctx context.Context, free []any, now int64) (t Task, err error) {
	for {
		found, err := scanTask(row(ctx, s.db, SQLite, `SELECT `+columns+` `+claimable, free...))
		if err != nil {
			return Task{}, err
		}
		t, err = scanTask(row(ctx, s.db, SQLite, `
			UPDATE outbox_tasks AS t SET locked_at = $4, attempts = attempts + 1,
			waiting_since = COALESCE(waiting_since, $4), `+touch("$4")+`
			WHERE id = $1 AND state = 'open' AND locked_at = $2 AND attempts = $3 AND (task_key = '' OR NOT
			EXISTS (`+before+`))
			RETURNING `+columns, found.ID, found.LockedAt, found.Attempts, now))
		if !errors.Is(err, sql.ErrNoRows) {
			return t, err
		} // another worker has claimed it
	}
}

// claimMySQL takes two statements, since MySQL's UPDATE returns no rows. The first locks the row, so that no
// other worker claims it before the second.
func (s *Store) claimMySQL(ctx context.Context, free []any, now int64) (t Task, err error) {
	// this level keeps no locks on rows that do not match
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return Task{}, err
	}
	defer func() { _ = tx.Rollback() }()
	t, err = scanTask(row(ctx, tx, MySQL, `SELECT `+columns+` `+claimable+MySQL.SkipLocked(), free...))
	if err != nil {
		return Task{}, err
	}
	if err := s.requireFirst(ctx, tx, t); err != nil {
		return Task{}, err
	}
	if _, err := exec(ctx, tx, MySQL, `UPDATE outbox_tasks SET locked_at = $2, attempts = attempts + 1,
		waiting_since = COALESCE(waiting_since, $2), `+touch("$2")+` WHERE id = $1`, t.ID, now); err != nil {
		return Task{}, err
	}
	if t, err = scanTask(row(ctx, tx, MySQL, `SELECT `+columns+` FROM outbox_tasks WHERE id = $1`,
		t.ID)); err != nil {
		return Task{}, err
	}
	return t, tx.Commit()
}

// requireFirst returns sql.ErrNoRows if an earlier task of the same key blocks t. MySQL locks a row in its
// current state, but searches for earlier ones in the state at the statement's start, and so may miss the
// first of two that were put in together.
func (s *Store) requireFirst(ctx context.Context, tx *sql.Tx, t Task) error {
	if t.Key == "" {
		return nil
	}
	var n int
	err := row(ctx, tx, MySQL, `SELECT COUNT(*) FROM outbox_tasks WHERE task_key = $1 AND state = 'open'
		AND id < $2`, t.Key, t.ID).Scan(&n)
	if err == nil && n > 0 {
		return sql.ErrNoRows
	}
	return err
}

// touch sets updated_at to the parameter, or to the old value plus one if that is not below the parameter.
// MySQL counts only rows that change.
func touch(parameter string) string {
	return `updated_at = CASE WHEN updated_at < ` + parameter + ` THEN ` + parameter + ` ELSE updated_at + 1 END`
}
