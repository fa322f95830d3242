// Package ledger is the durable record of what happened in the rooms, and the second line of defence
// behind the match of an SMS: a verification that breaks a rule can not be written.
//
// It is filled from the journal that the engine's scripts write beside every change: read, applied in
// one transaction, then trimmed. An entry is known by room, epoch and id, so that one applied twice,
// by two replicas or after a crash between apply and trim, counts once. Nobody's turn waits for it.
//
// Files that begin with drain take journals in, with judge give verdicts, with read answer support, with trim forget what is old; apply, batch and the rest are what
// is written, a noun each. The database below it is internal/sqldb's.
package ledger

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// ErrAway says that the database can not be reached, or could not be a moment ago.
var ErrAway = sqldb.ErrAway

// Journal is where the rooms' journals are; *room.Engine has it.
type Journal interface {
	ReadJournal(ctx context.Context, id room.ID, n int) ([]room.Entry, error)
	ReadJournals(ctx context.Context, ids []room.ID, n int) []room.Journal
	// TrimJournals returns an error for each, or nil.
	TrimJournals(ctx context.Context, journals []room.Journal) []error
}

// Rooms is what else the ledger asks and tells the rooms; *room.Engine has it.
type Rooms interface {
	Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat, error)
	SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
}

// Pushes knows which sellers' browsers are to be told though no page is open there. Nobody waits long for it.
type Pushes interface {
	// Browsers names those of the places that something happened to, by ticket.
	Browsers(ctx context.Context, id room.ID, happened []room.Record) (map[int64][]string, error)
	// Forget is told of places that are over.
	Forget(ctx context.Context, id room.ID, tickets ...int64) error
	// Pushed is called when news for browsers have been put into the outbox.
	Pushed()
}

// Config says what the ledger works with. Zero fields get the defaults.
type Config struct {
	DB         *sqldb.DB // with Migrations
	Journal    Journal
	Rooms      Rooms
	JournalMax int    // how many entries a room's journal keeps at the most; 0 = not known
	Pushes     Pushes // which sellers' browsers are told; nil = none
	Webhooks   bool   // events go into the outbox; false = they are not told, also not later
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	Tracer     trace.Tracer          // has a span for each entry of a journal that was written within a span, while it is taken in; nil = there are none
	Guard      time.Duration         // how far a carrier's clock may be off
	Retention  time.Duration         // how long what happened is kept; 0 = for ever
	OnIncident func(room.ID)         // called after an incident was first written, for one room at a time, and keeps nobody waiting but Close
	Now        func() time.Time      // for tests: how long a journal has waited
}

func (c Config) withDefaults() Config {
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
	cfg        Config
	log        *slog.Logger
	db         *sqldb.DB
	name       string // of this one among those that share the database
	rooms      roomLocks
	backlog    *backlog
	alerts     alerts
	unanswered unansweredCommits
	metrics    *metrics

	backlogLog *rate.Limiter // how often a journal that fills up is logged
	failureLog *rate.Limiter // and a drain that fails
}

// New makes a ledger on a database, which stays the caller's to close, after the ledger. While the database is away the ledger is
// behind, and catches up when it can.
func New(c Config) *Ledger {
	c = c.withDefaults()
	l := &Ledger{cfg: c, log: c.Log, db: c.DB, name: rand.Text()}
	l.backlogLog, l.failureLog = newLogLimiter(), newLogLimiter()
	l.backlog = newBacklog(c.Now)
	l.alerts.notify = c.OnIncident
	l.metrics = newMetrics(c.Registerer, l)
	return l
}

// Close waits until nobody is told of an incident any more.
func (l *Ledger) Close() { l.alerts.close() }
