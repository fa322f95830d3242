package sqldb

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/sethvargo/go-retry"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Migrations are the steps to this program's version, each with a number of its own.
type Migrations struct {
	Files fs.FS // sqlite/NNNNN_name.sql and postgres/NNNNN_name.sql
}

// Encoding is the encoding that a PostgreSQL database needs.
const Encoding = "UTF8"

// migrateLock is the advisory lock under which one replica migrates and the others wait.
const migrateLock = 7_201_984_003

// How often SQLite is tried again. Replicas that start at once get in each other's way, and the
// second finds the work done.
const (
	migrateRetries   = 19
	migrateRetry     = 10 * time.Millisecond
	migrateRetryMost = 200 * time.Millisecond
)

// migrate brings the database to this program's version; with nothing to do it changes nothing.
func (d *DB) migrate(ctx context.Context) error {
	if d.dialect == dialect.Postgres {
		return d.migrateAlone(ctx)
	}
	again := retry.WithMaxRetries(migrateRetries,
		retry.WithCappedDuration(migrateRetryMost, retry.NewExponential(migrateRetry)))
	return retry.Do(ctx, again, func(ctx context.Context) error {
		return retry.RetryableError(d.migrateOnce(ctx, goose.DialectSQLite3, "sqlite"))
	})
}

func (d *DB) migrateOnce(ctx context.Context, tool goose.Dialect, dir string) error {
	files, err := fs.Sub(d.migrations.Files, dir)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(tool, d.sql, files, goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(d.log.With("part", "migrations")))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// migrateAlone makes one replica migrate at a time. The lock is a transaction's, on a connection beside the
// one that migrates: see postgres. A waiting replica polls, so that it holds no connection of a pooler's.
func (d *DB) migrateAlone(ctx context.Context) error {
	for {
		alone, err := d.tryMigrate(ctx)
		if alone || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another replica to migrate: %w", ctx.Err())
		case <-time.After(migrateRetryMost):
		}
	}
}

// tryMigrate migrates unless another replica does: alone is false then.
func (d *DB) tryMigrate(ctx context.Context) (alone bool, err error) {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("begin to migrate: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var encoding string
	err = tx.QueryRowContext(ctx,
		`SELECT current_setting('server_encoding'), pg_try_advisory_xact_lock($1) FROM set_config($2, '0', true)`,
		migrateLock, idleSetting).
		Scan(&encoding, &alone)
	if err == nil && encoding != Encoding {
		err = fmt.Errorf("the database's encoding is %s, which has not every letter: CREATE DATABASE … ENCODING "+
			"'%s' TEMPLATE template0, and name that in DATABASE_URL", encoding, Encoding)
	}
	if err != nil || !alone {
		return false, err
	}
	if err := d.migrateOnce(ctx, goose.DialectPostgres, "postgres"); err != nil {
		return true, err
	}
	if err := tx.Commit(); err != nil {
		return true, fmt.Errorf("migration lock was lost: %w", err)
	}
	return true, nil
}
