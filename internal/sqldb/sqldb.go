// Package sqldb opens the database of the ledger and the outbox: SQLite or PostgreSQL, migrated before its
// first use. While the database is known to be away, calls fail at once.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// ErrAway is returned while the database is unreachable, or was a moment ago.
var ErrAway = errors.New("database is away")

// Config configures a DB. Zero fields get the defaults.
type Config struct {
	URL        string // DATABASE_URL: sqlite:PATH or postgres://…; default DefaultURL
	Migrations Migrations
	Log        *slog.Logger
	// Reread returns URL as it is now. Each new connection to PostgreSQL uses the user and password in it, so
	// that a password can be replaced without a restart. nil = URL does not change.
	Reread func() (string, error)
	Now    func() time.Time // for tests: the clock of retries

	ProbeWithin time.Duration // for tests: time for a probe's answer; default a second
}

// DefaultURL is the default of Config.URL.
const DefaultURL = "sqlite:data/waitroom.db"

func (c Config) withDefaults() Config {
	if c.URL == "" {
		c.URL = DefaultURL
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.ProbeWithin == 0 {
		c.ProbeWithin = probeWithin
	}
	return c
}

// DB is one process's access to a database. It is safe for concurrent use.
type DB struct {
	log        *slog.Logger
	sql        *sql.DB
	dialect    dialect.Dialect
	postgres   *postgres     // nil for SQLite
	writer     chan struct{} // SQLite has one writer at a time: ours queue here, not in its busy loop
	migrations Migrations
	migrated   atomic.Bool
	circuit    circuit
	file       file // SQLite's
	probe      probe
	statements statements // SQLite's
	stats      stats
}

// openWithin is how long Open waits for the database before it continues without.
const openWithin = 15 * time.Second

// Open connects and migrates; the caller closes the DB. A wrong URL, password or database is an error. An
// unreachable server is not: it is away, and is migrated when it is back.
func Open(ctx context.Context, c Config) (*DB, error) {
	c = c.withDefaults()
	src, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	if src.pg != nil {
		src.pg.reread = c.Reread
	}
	pool, err := src.open()
	if err != nil {
		return nil, err
	}
	d := &DB{log: c.Log, sql: pool, dialect: src.dialect, postgres: src.pg, migrations: c.Migrations}
	d.circuit.now, d.file.path = c.Now, src.path
	d.probe = probe{ping: src.ping, within: c.ProbeWithin, allow: rate.NewLimiter(rate.Every(probeEvery), 1)}
	if src.dialect == dialect.SQLite {
		d.writer = make(chan struct{}, 1)
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	if err := d.writable(ctx, src.path); err != nil {
		_ = d.Close()
		return nil, err
	}
	if err := d.guard(ctx, func() error { return nil }); err != nil {
		if !Temporary(err) {
			_ = d.Close()
			if RefusesParameter(err) {
				err = fmt.Errorf("%w: %s", err, ParameterAdvice)
			}
			return nil, err
		}
		d.circuit.fail(err) // also after a time-out, which was long enough
		d.log.Error("database is away: starting without it", "error", err)
	}
	d.circuit.onOpen(func(err error) { d.log.Error("database is away", "error", err) })
	return d, nil
}

// writable checks whether SQLite's file can be written, before goose does, which retries for long. A file at
// this program's version is otherwise only read.
func (d *DB) writable(ctx context.Context, path string) error {
	if d.dialect != dialect.SQLite {
		return nil
	}
	err := TakesWrites(ctx, d.sql)
	if err != nil && !Temporary(err) {
		return fmt.Errorf("DATABASE_URL: %s can not be written: %s (%w)", path, FileRemedy(err), err)
	}
	return nil
}

// TakesWrites creates a table in a transaction and rolls it back. Beginning a transaction is not enough:
// SQLite begins one on a read-only file.
func TakesWrites(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, `CREATE TABLE waitroom_takes_writes (n INT)`)
	return err
}

// Close closes the connections, and ends the probe.
func (d *DB) Close() error {
	d.probe.close()
	return d.sql.Close()
}

// SQL returns the pool, without the guard.
func (d *DB) SQL() *sql.DB { return d.sql }

// Dialect returns the dialect of SQL.
func (d *DB) Dialect() dialect.Dialect { return d.dialect }

// Away returns ErrAway while calls would fail at once, else nil.
func (d *DB) Away() error { return d.circuit.closed() }

// State returns since when the database is away, and the error; nil if it is not away.
func (d *DB) State() (since time.Time, err error) {
	d.checkFile()
	return d.circuit.state()
}
