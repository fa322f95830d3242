// Package ledger is the durable record of what happened in the rooms, and the second line of defence
// behind the match of an SMS: a verification that breaks a rule can not be written.
//
// It is filled from the journal that the engine's scripts write beside every change: read, applied in
// one transaction, then trimmed. An entry is known by room, epoch and id, so that one applied twice,
// by two replicas or after a crash between apply and trim, counts once. Nobody's turn waits for it.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// ErrAway says that the database can not be reached, or could not be a moment ago.
var ErrAway = errors.New("ledger is away")

// Journal is where a room's journal is; *room.Engine has it.
type Journal interface {
	ReadJournal(ctx context.Context, id room.ID, n int) ([]room.Entry, error)
	TrimJournal(ctx context.Context, id room.ID, entries []room.Entry) error
}

// Rooms is what else the ledger asks and tells the rooms; *room.Engine has it.
type Rooms interface {
	Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat, error)
	SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
}

// Config says what the ledger works with. Zero fields get the defaults.
type Config struct {
	URL        string // DATABASE_URL; default sqlite:data/waitroom.db
	Journal    Journal
	Rooms      Rooms
	JournalMax int  // how many entries a room's journal keeps at the most; 0 = not known
	Tell       bool // events go into the outbox; false = they are not told, also not later
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	Guard      time.Duration         // how far a carrier's clock may be off
	Alarmed    func(room.ID)         // called after an incident was first written, for one room at a time, and keeps nobody waiting but Close
	Now        func() time.Time      // for tests: when to try a database again that was away
}

// DefaultURL is where the ledger is when nobody says.
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
	return c
}

// Ledger is one process's way to the record. It may be used by many goroutines.
type Ledger struct {
	cfg      Config
	log      *slog.Logger
	db       *sql.DB
	dialect  dialect.Dialect
	secret   string        // the database's password, to be kept out of errors
	writer   chan struct{} // SQLite has one writer at a time: ours queue here, not in its busy loop
	migrated atomic.Bool
	circuit  circuit
	probe    probe
	rooms    roomLocks
	backlog  *backlog
	bell     bell
	metrics  *metrics

	statements   statements    // SQLite's
	backlogAlarm *rate.Limiter // how often a journal that fills up is logged
	failureLog   *rate.Limiter // and a drain that fails
}

// openWithin is how long Open waits for the database before it goes on without.
const openWithin = 15 * time.Second

// Open connects and migrates. A wrong URL, password or database is an error; a server that can not be
// reached is not: the ledger is behind then, and catches up when it can. Close it in the end.
func Open(ctx context.Context, c Config) (*Ledger, error) {
	c = c.withDefaults()
	src, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	db, err := src.open()
	if err != nil {
		return nil, err
	}
	l := &Ledger{cfg: c, log: c.Log, db: db, dialect: src.dialect, secret: src.secret}
	l.circuit.now = c.Now
	l.probe = probe{source: src, allow: rate.NewLimiter(rate.Every(probeEvery), 1)}
	l.backlogAlarm, l.failureLog = newAlarm(), newAlarm()
	l.backlog = newBacklog(c.Now)
	l.bell.alarmed = c.Alarmed
	l.metrics = newMetrics(c.Registerer, l)
	if src.dialect == dialect.SQLite {
		l.writer = make(chan struct{}, 1)
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	if err := l.guard(ctx, func() error { return nil }); err != nil {
		if !temporary(err) {
			_ = l.Close()
			return nil, l.clean(err)
		}
		l.circuit.fail(err) // also where it only took its time: there was enough of it
		l.log.Error("ledger is away: starting without, it will catch up", "error", l.clean(err))
	}
	return l, nil
}

// Close ends the connections, and the probe if there is one.
func (l *Ledger) Close() error {
	l.bell.close()
	l.probe.close()
	return l.db.Close()
}

// DB is the database, for the outbox, which keeps its tasks beside the ledger.
func (l *Ledger) DB() *sql.DB { return l.db }

// Dialect is what DB speaks.
func (l *Ledger) Dialect() dialect.Dialect { return l.dialect }
