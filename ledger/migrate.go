package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/outbox"
)

//go:embed migrations
var migrations embed.FS

// outboxVersion is the migration that makes the outbox's table.
const outboxVersion = 2

// migrateLock is the advisory lock under which one replica migrates and the others wait.
const migrateLock = 7_201_984_003

// migrateTries bounds how often SQLite is asked again: replicas that start at once get in each
// other's way, and whoever comes second finds the work done.
const migrateTries = 20

// migrate brings the database to this program's version; with nothing to do it changes nothing.
func (l *Ledger) migrate(ctx context.Context) error {
	if l.dialect == dialect.Postgres {
		return l.migrateOnce(ctx, goose.DialectPostgres, "migrations/postgres", goose.WithSessionLocker(advisoryLock{}))
	}
	var err error
	for try := range migrateTries {
		if err = l.migrateOnce(ctx, goose.DialectSQLite3, "migrations/sqlite"); err == nil || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, time.Duration(try)*10*time.Millisecond); err != nil {
			return err
		}
	}
	return err
}

func (l *Ledger) migrateOnce(ctx context.Context, d goose.Dialect, dir string, opts ...goose.ProviderOption) error {
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	tasks := goose.NewGoMigration(outboxVersion, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, outbox.Schema(l.dialect))
		return err
	}}, nil)
	provider, err := goose.NewProvider(d, l.db, files, append(opts, goose.WithGoMigrations(tasks),
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(l.log.With("part", "migrations")))...)
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

// pause waits, but not longer than ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
