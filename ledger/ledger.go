package ledger

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/ledger/trim"
	"github.com/waitroom/waitroom/room"
)

// Journal reads and trims the rooms' journals; *room.Engine implements it.
type Journal interface {
	read.Journal
	ReadJournals(ctx context.Context, ids []room.ID, n int) []room.Journal
	// TrimJournals returns an error or nil for each journal.
	TrimJournals(ctx context.Context, journals []room.Journal) []error
}

// Rooms reads a room and settles its matches; *room.Engine implements it.
type Rooms interface {
	Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat, error)
	EachRoom(ctx context.Context, ids []room.ID, within time.Duration,
		f func(context.Context, room.ID) error) map[room.ID]error
	SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
}

// Pushes finds the browsers to push to when a seller has no page open. The ledger waits at most a second for
// it.
type Pushes interface {
	// Browsers returns the browsers of the records' places, by ticket.
	Browsers(ctx context.Context, id room.ID, happened []room.Record) (map[int64][]string, error)
	// Forget deletes the subscriptions of places that have ended.
	Forget(ctx context.Context, id room.ID, tickets ...int64) error
	// Pushed is called when push tasks are in the outbox.
	Pushed()
}

// Config configures a Ledger. Zero fields get the defaults.
type Config struct {
	DB         *sqldb.DB // opened with schema.Migrations
	Journal    Journal
	Rooms      Rooms
	JournalMax int    // entries that a room's journal keeps; 0 = not known
	Pushes     Pushes // nil = no pushes
	Webhooks   bool   // events go into the outbox; false = they are never sent
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	Tracer     trace.Tracer          // starts a span for each drained entry that has a trace; nil = none
	Guard      time.Duration         // how far a carrier's clock may be off
	Retention  time.Duration         // how long rows are kept; 0 = for ever
	// called after a new incident, for one room at a time; only Close waits for it
	OnIncident func(room.ID)
	Now        func() time.Time // for tests
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

// Ledger is one process's access to the record. It is safe for concurrent use.
type Ledger struct {
	*read.Reader
	*trim.Trimmer

	cfg        Config
	log        *slog.Logger
	db         *sqldb.DB
	rooms      roomLocks
	backlog    *backlog
	alerts     alerts
	unanswered unansweredCommits
	refused    refusedJoins
	metrics    *metrics

	backlogLog *rate.Limiter // limits the log of journals that fill up
	failureLog *rate.Limiter // limits the log of failed drains
}

// New returns a ledger on a database, which the caller closes after the ledger. While the database is away,
// the ledger is behind; it catches up later.
func New(c Config) *Ledger {
	c = c.withDefaults()
	reader := read.New(read.Config{DB: c.DB, Journal: c.Journal, Retention: c.Retention, Now: c.Now})
	l := &Ledger{Reader: reader, cfg: c, log: c.Log, db: c.DB}
	l.backlogLog, l.failureLog = newLogLimiter(), newLogLimiter()
	l.backlog = newBacklog(c.Now)
	l.alerts.notify = c.OnIncident
	l.metrics = newMetrics(c.Registerer, l)
	l.Trimmer = trim.New(trim.Config{DB: c.DB, Journal: c.Journal, Webhooks: c.Webhooks, Log: c.Log,
		Registerer: c.Registerer, Retention: c.Retention, Now: c.Now,
		Behind: func() bool { return l.Status().Behind }})
	return l
}

// Close waits for the OnIncident call in progress.
func (l *Ledger) Close() { l.alerts.close() }

// Status is the ledger's state. It is behind while the database is away, or once a journal has waited for
// over 3 seconds.
type Status struct {
	Behind  bool
	Since   time.Time // zero when not behind
	Pending int       // journal entries that wait, as far as this replica knows
	Error   string    // without the database's password; "" when the database answers
}

// Status returns the ledger's state, for /readyz and support.
func (l *Ledger) Status() Status {
	away, err := l.db.State()
	pending, waiting := l.backlog.sum()
	s := Status{Pending: pending}
	if err != nil {
		s.Error = err.Error()
	}
	if !waiting.IsZero() && l.cfg.Now().Sub(waiting) > behindAfter {
		s.Behind, s.Since = true, waiting
	}
	if !away.IsZero() {
		s.Behind = true
		if s.Since.IsZero() || away.Before(s.Since) {
			s.Since = away
		}
	}
	return s
}

// behindAfter is how long a room's journal may wait before the ledger counts as behind.
const behindAfter = 3 * time.Second

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
