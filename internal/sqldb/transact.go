package sqldb

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Read runs do outside of any transaction. It fails with ErrAway at once where the database is known to be
// away, as Write and Transact do.
func (d *DB) Read(ctx context.Context, do func(Session) error) error {
	return d.guard(ctx, func() error { return do(d.session(ctx, d.sql)) })
}

// Write is Read for one statement that writes: SQLite's writers of this process wait for each other.
func (d *DB) Write(ctx context.Context, do func(Session) error) error {
	done, err := d.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return d.Read(ctx, do)
}

// Transact runs do in a transaction that is alone under its key, across all processes. It waits for the one
// before it. Where do fails nothing is written.
func (d *DB) Transact(ctx context.Context, key string, do func(Session) error) error {
	return d.TransactIn(ctx, []string{key}, do)
}

// TransactIn is Transact under several keys. All callers with common keys name them in the same order, or
// they may wait for each other until the database ends it.
func (d *DB) TransactIn(ctx context.Context, keys []string, do func(Session) error) error {
	done, err := d.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return d.guard(ctx, func() error { return d.transact(ctx, keys, do) })
}

func (d *DB) transact(ctx context.Context, keys []string, do func(Session) error) error {
	tx, err := d.sql.BeginTx(ctx, nil) // SQLite: IMMEDIATE, which is alone in the whole file
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	s := d.session(ctx, tx)
	var number int64
	switch d.dialect {
	case dialect.SQLite:
		s.Querier = prepared{tx: tx, db: d.sql, statements: &d.statements}
	case dialect.Postgres:
		if number, err = s.lock(keys, d.postgres.idle); err != nil {
			return fmt.Errorf("lock %q: %w", keys, err)
		}
	}
	if err := do(s); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", unanswered(number, err))
	}
	return nil
}

// lock waits until the transaction is alone under its keys, and returns its number.
func (s Session) lock(keys []string, idle string) (number int64, err error) {
	err = s.Each(func(scan func(...any) error) error {
		var set, locked any
		return scan(&number, &set, &locked)
	}, `SELECT txid_current(), set_config($2, $3, true), pg_advisory_xact_lock(hashtextextended(key, 0))
		FROM unnest(CAST($1 AS TEXT[])) AS key`, keys, idleSetting, idle)
	return number, err
}

func (d *DB) session(ctx context.Context, q dialect.Querier) Session {
	return Session{Querier: q, Ctx: ctx, Dialect: d.dialect}
}
