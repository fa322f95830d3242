package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// claimable is a task t of kind $2 that was not locked since $1, or that is locked until after $3, and waits for none before it, the oldest first.
const claimable = `FROM outbox_tasks t
	WHERE t.state = 'open' AND t.kind = $2 AND (t.locked_at < $1 OR t.locked_at > $3) AND (t.task_key = '' OR NOT EXISTS (` + before + `))
	ORDER BY t.updated_at, t.id LIMIT 1 `

// before is an open task e that is to be done before t.
const before = `SELECT 1 FROM outbox_tasks e WHERE e.task_key = t.task_key AND e.state = 'open' AND e.id < t.id`

// Claim locks the task of a kind that was written to the longest ago, of those that were free or whose lock was too old as of `asOf` (unix ms); ok is
// false when there is none. Of many who claim at once each gets another one. A worker passes the time its tick began, so that no
// task is tried twice in one tick.
func (s *Store) Claim(ctx context.Context, kind string, asOf int64) (t Task, ok bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Task{}, false, err
	}
	// No lock and no rest ends so late, unless the clock was ahead and has been set back.
	free := []any{asOf - s.timeout.Milliseconds(), kind, now + s.timeout.Milliseconds() + slowRest.Milliseconds()}
	switch s.dialect {
	case MySQL:
		t, err = s.claimInTwo(ctx, free, now)
	case SQLite:
		t, err = s.claimFound(ctx, free, now)
	default:
		t, err = s.claimAtOnce(ctx, free, now)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Task{}, false, nil
	}
	if err != nil {
		return Task{}, false, fmt.Errorf("claim task: %w", err)
	}
	return t, true, nil
}

func (s *Store) claimAtOnce(ctx context.Context, free []any, now int64) (Task, error) {
	return scanTask(row(ctx, s.db, s.dialect, `
		UPDATE outbox_tasks SET locked_at = $4, attempts = attempts + 1, waiting_since = COALESCE(waiting_since, $4), `+touch("$4")+`
		WHERE id = (SELECT t.id `+claimable+s.dialect.SkipLocked()+`)
		RETURNING `+columns, append(free, now)...))
}

// claimFound is for SQLite, which lets one write at a time: a task is looked for before that. Of thousands that rest or wait for one before them the search takes
// some hundredths of a second, and the lane of a receiver that is away searches all the time.
func (s *Store) claimFound(ctx context.Context, free []any, now int64) (t Task, err error) {
	for {
		found, err := scanTask(row(ctx, s.db, SQLite, `SELECT `+columns+` `+claimable, free...))
		if err != nil {
			return Task{}, err
		}
		t, err = scanTask(row(ctx, s.db, SQLite, `
			UPDATE outbox_tasks AS t SET locked_at = $4, attempts = attempts + 1, waiting_since = COALESCE(waiting_since, $4), `+touch("$4")+`
			WHERE id = $1 AND state = 'open' AND locked_at = $2 AND attempts = $3 AND (task_key = '' OR NOT EXISTS (`+before+`))
			RETURNING `+columns, found.ID, found.LockedAt, found.Attempts, now))
		if !errors.Is(err, sql.ErrNoRows) {
			return t, err
		} // somebody else has it by now
	}
}

// claimInTwo is for MySQL, whose UPDATE does not tell what it changed: the row is locked by the first statement, and nobody else sees it meanwhile.
func (s *Store) claimInTwo(ctx context.Context, free []any, now int64) (t Task, err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // which keeps no locks on rows that do not fit
	if err != nil {
		return Task{}, err
	}
	defer func() { _ = tx.Rollback() }()
	t, err = scanTask(row(ctx, tx, MySQL, `SELECT `+columns+` `+claimable+MySQL.SkipLocked(), free...))
	if err != nil {
		return Task{}, err
	}
	if err := s.overtakes(ctx, tx, t); err != nil {
		return Task{}, err
	}
	if _, err := exec(ctx, tx, MySQL, `UPDATE outbox_tasks SET locked_at = $2, attempts = attempts + 1,
		waiting_since = COALESCE(waiting_since, $2), `+touch("$2")+` WHERE id = $1`, t.ID, now); err != nil {
		return Task{}, err
	}
	if t, err = scanTask(row(ctx, tx, MySQL, `SELECT `+columns+` FROM outbox_tasks WHERE id = $1`, t.ID)); err != nil {
		return Task{}, err
	}
	return t, tx.Commit()
}

// overtakes is sql.ErrNoRows where a task is to be done before t after all: MySQL locks a row as it is now, and looks for those before it as they were
// when the statement began, so that it may see of two that were put in together only the second.
func (s *Store) overtakes(ctx context.Context, tx *sql.Tx, t Task) error {
	if t.Key == "" {
		return nil
	}
	var n int
	err := row(ctx, tx, MySQL, `SELECT COUNT(*) FROM outbox_tasks WHERE task_key = $1 AND state = 'open' AND id < $2`, t.Key, t.ID).Scan(&n)
	if err == nil && n > 0 {
		return sql.ErrNoRows
	}
	return err
}

// touch makes updated_at the parameter's time, and another one than before in any case: MySQL counts only rows that have changed.
func touch(parameter string) string {
	return `updated_at = CASE WHEN updated_at < ` + parameter + ` THEN ` + parameter + ` ELSE updated_at + 1 END`
}
