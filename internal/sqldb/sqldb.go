// Package sqldb is the database under the ledger and the outbox: SQLite or PostgreSQL. It is migrated before
// its first use, and may be away. A call on a database that is known to be away fails at once.
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

// ErrAway reports that the database cannot be reached, or could not be a moment ago.
var ErrAway = errors.New("database is away")

// Config selects the database. Zero fields get the defaults.
type Config struct {
	URL        string // DATABASE_URL: sqlite:PATH or postgres://…; default DefaultURL
	Migrations Migrations
	Log        *slog.Logger
	Now        func() time.Time // for tests: when to try a database again that was away

	ProbeWithin time.Duration // for tests: how long the database may take to answer a probe; default a second
}

// DefaultURL is the address of the database by default.
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

// DB is one process's access to a database. It is safe for many goroutines.
type DB struct {
	log        *slog.Logger
	sql        *sql.DB
	dialect    dialect.Dialect
	postgres   *postgres     // nil for SQLite
	writer     chan struct{} // SQLite has one writer at a time: this process's queue here, not in its busy loop
	migrations Migrations
	migrated   atomic.Bool
	circuit    circuit
	probe      probe
	statements statements // SQLite's
	stats      stats
}

// openWithin is how long Open waits for the database before it goes on without.
const openWithin = 15 * time.Second

// Open connects and migrates. A wrong URL, password or database is an error; a server that cannot be reached
// is not: it is away then, and migrated when it is back. Close it in the end.
func Open(ctx context.Context, c Config) (*DB, error) {
	c = c.withDefaults()
	src, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	pool, err := src.open()
	if err != nil {
		return nil, err
	}
	d := &DB{log: c.Log, sql: pool, dialect: src.dialect, postgres: src.pg, migrations: c.Migrations}
	d.circuit.now = c.Now
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
		d.circuit.fail(err) // also where it was only slow: there was enough time
		d.log.Error("database is away: starting without it", "error", err)
	}
	d.circuit.onOpen(func(err error) { d.log.Error("database is away", "error", err) })
	return d, nil
}

// writable checks whether SQLite's file may be written, before goose, which asks for long. One that is at
// this program's version is only read until a write comes.
func (d *DB) writable(ctx context.Context, path string) error {
	if d.dialect != dialect.SQLite {
		return nil
	}
	err := TakesWrites(ctx, d.sql)
	if err != nil && !Temporary(err) {
		return fmt.Errorf("DATABASE_URL: %s can not be written: give the user who runs waitroom the right to do "+
			"so (%w)", path, err)
	}
	return nil
}

// TakesWrites makes a table in a transaction that it rolls back. Beginning one is not enough: where SQLite
// may only read, it begins one for that.
func TakesWrites(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, `CREATE TABLE waitroom_takes_writes (n INT)`)
	return err
}

// Close ends the connections, and the probe if there is one.
func (d *DB) Close() error {
	d.probe.close()
	return d.sql.Close()
}

// SQL returns the database itself, for a caller that needs no guard.
func (d *DB) SQL() *sql.DB { return d.sql }

// Dialect returns the database's SQL.
func (d *DB) Dialect() dialect.Dialect { return d.dialect }

// Away returns nil where the database may be called, and ErrAway where a call would fail at once.
func (d *DB) Away() error { return d.circuit.closed() }

// State returns since when the database is away, and why; a nil error where it is not.
func (d *DB) State() (since time.Time, err error) { return d.circuit.state() }
