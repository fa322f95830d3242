package sqldb

import (
	"context"
	"database/sql"
	"errors"
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

// migrateLock is the advisory lock under which one replica migrates and the others wait.
const migrateLock = 7_201_984_003

// SQLite is asked again so often: replicas that start at once get in each other's way, and whoever comes second finds the work done.
const (
	migrateRetries   = 19
	migrateRetry     = 10 * time.Millisecond
	migrateRetryMost = 200 * time.Millisecond
)

// migrate brings the database to this program's version; with nothing to do it changes nothing.
func (d *DB) migrate(ctx context.Context) error {
	if d.dialect == dialect.Postgres {
		return d.migrateOnce(ctx, goose.DialectPostgres, "postgres", goose.WithSessionLocker(advisoryLock{}))
	}
	again := retry.WithMaxRetries(migrateRetries, retry.WithCappedDuration(migrateRetryMost, retry.NewExponential(migrateRetry)))
	return retry.Do(ctx, again, func(ctx context.Context) error {
		return retry.RetryableError(d.migrateOnce(ctx, goose.DialectSQLite3, "sqlite"))
	})
}

func (d *DB) migrateOnce(ctx context.Context, tool goose.Dialect, dir string, opts ...goose.ProviderOption) error {
	files, err := fs.Sub(d.migrations.Files, dir)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(tool, d.sql, files, append(opts, goose.WithDisableGlobalRegistry(true), goose.WithSlog(d.log.With("part", "migrations")))...)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// advisoryLock waits for PostgreSQL's lock on one connection; a connection that breaks gives it back.
type advisoryLock struct{}

func (advisoryLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrateLock)
	return err
}

func (advisoryLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	var held bool
	err := conn.QueryRowContext(ctx, `SELECT pg_advisory_unlock($1)`, migrateLock).Scan(&held)
	if err == nil && !held {
		return errors.New("migration lock was lost")
	}
	return err
}
