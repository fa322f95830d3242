package sqldb

import (
	"context"
	"fmt"
)

// Unanswered is a commit without an answer of the database: it may have happened. Committed finds out.
type Unanswered struct {
	number int64 // PostgreSQL's, of the transaction
	err    error
}

func (u *Unanswered) Error() string { return u.err.Error() }

// Unwrap returns the error in place of an answer.
func (u *Unanswered) Unwrap() error { return u.err }

// unanswered wraps a commit's error unless the database itself reported that nothing is
// written. SQLite always does.
func unanswered(number int64, err error) error {
	if number == 0 || answered(err) {
		return err
	}
	return &Unanswered{number: number, err: err}
}

// Committed reports whether a commit without an answer happened. It is not known
// while its transaction goes on.
func (d *DB) Committed(ctx context.Context, u *Unanswered) (committed, known bool, err error) {
	var status string
	err = d.Read(ctx, func(s Session) error {
		return s.Row(`SELECT COALESCE(txid_status($1), 'forgotten')`, u.number).Scan(&status)
	})
	if err != nil {
		return false, false, fmt.Errorf("ask for a commit: %w", err)
	}
	return status == "committed", status != "in progress", nil
}
