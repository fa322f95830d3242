// Package trim deletes what is older than the retention from the ledger, and renames erased sellers in it.
package trim

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room/wire"
)

const (
	trimEvery    = time.Hour       // from the end of a round to the next
	trimAskEvery = time.Minute     // how often a replica checks whether a round is due
	trimTurn     = 5 * time.Minute // a replica without a step for so long has lost its turn
	// rest after a step, as a multiple of the step's time: at most a tenth of the database's time
	trimRest    = 9
	trimLeast   = 5 * time.Millisecond
	trimBehind  = time.Second      // between checks whether the ledger is still behind
	trimPending = 2 * time.Hour    // journal entries this close to the horizon are drained before the trim
	trimWithin  = 10 * time.Second // one step
	outboxStep  = 1000
)

// Journal reads a room's journal; *room.Engine implements it.
type Journal interface {
	ReadJournal(ctx context.Context, id wire.ID, n int) ([]wire.Entry, error)
}

// Config configures a Trimmer. A Ledger sets all fields.
type Config struct {
	DB         *sqldb.DB
	Journal    Journal
	Behind     func() bool // reports whether the ledger is behind, so that the trim waits
	Webhooks   bool        // false = the outbox's open tasks are never sent
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	Retention  time.Duration         // 0 = for ever
	Now        func() time.Time
}

// Trimmer trims a ledger. It is safe for concurrent use.
type Trimmer struct {
	cfg     Config
	name    string // of this process, among those that share the database
	deleted *prometheus.CounterVec
	oldest  atomic.Int64 // unix ms, time of the oldest row; 0 = not known
}

// New returns a trimmer of a database, which the caller closes.
func New(c Config) *Trimmer {
	t := &Trimmer{cfg: c, name: rand.Text()}
	t.deleted = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_ledger_trimmed_rows_total",
		Help: "Rows deleted because they were older than the retention, by table."}, []string{"table"})
	if c.Registerer != nil {
		c.Registerer.MustRegister(t.deleted, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waitroom_ledger_oldest_row_seconds",
			Help: "How old the oldest row is, as the last round of the trim found; 0 when not known.",
		}, t.oldestSeconds))
	}
	return t
}

func (t *Trimmer) oldestSeconds() float64 {
	if at := t.oldest.Load(); at > 0 {
		return t.cfg.Now().Sub(time.UnixMilli(at)).Seconds()
	}
	return 0
}

// Run trims in rounds, one replica at a time, until ctx ends; it returns ctx's error.
func (t *Trimmer) Run(ctx context.Context) error {
	for {
		if _, err := t.Trim(ctx); err != nil && ctx.Err() == nil {
			t.cfg.Log.Warn("ledger was not trimmed; it will be tried again", "error", err)
		}
		if err := pause(ctx, trimAskEvery); err != nil {
			return err
		}
	}
}

// Trim deletes rows that are older than Config.Retention, and returns how many. It works in steps of a few
// hundred rows, with rests. It does nothing if a process trims, or finished within the last hour. Rows that
// belong together go together; each room's highest fence and ticket stay known.
func (t *Trimmer) Trim(ctx context.Context) (rows int64, err error) {
	if t.cfg.Retention <= 0 {
		return 0, nil
	}
	r := &round{Trimmer: t, gone: make(trimmed), oldest: never}
	mine, err := r.begin(ctx)
	if err != nil || !mine {
		return 0, err
	}
	if err = r.rooms(ctx); err == nil {
		err = r.tasks(ctx)
	}
	rows = r.gone.sum()
	if rows > 0 {
		t.cfg.Log.InfoContext(ctx, "ledger has trimmed what is older than its retention", "rows", rows, "retention",
			t.cfg.Retention, "whole", err == nil)
	}
	if err != nil {
		return rows, fmt.Errorf("trim: %w", err)
	}
	return rows, r.end(ctx)
}

// round is one pass over all rooms.
type round struct {
	*Trimmer
	before int64 // unix ms: older rows are deleted
	oldest int64 // unix ms: time of the oldest row that remains
	gone   trimmed
}

// begin tries to take the turn to trim, which one replica has at a time, and reports whether it did. It also
// reads the last round's result.
func (r *round) begin(ctx context.Context) (mine bool, err error) {
	var now int64
	err = r.cfg.DB.Transact(ctx, trimKey, func(s sqldb.Session) (err error) {
		if now, err = s.Dialect.Now(ctx, s); err != nil {
			return err
		}
		n, err := s.Exec(`UPDATE retention SET owner = $1, until = $2 WHERE id = 1 AND until <= $3`, r.name,
			now+trimTurn.Milliseconds(), now)
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take turn: %w", err)
	}
	// The earlier clock counts, so that a clock that is ahead does not delete rows too early.
	r.before = min(now, r.cfg.Now().UnixMilli()) - r.cfg.Retention.Milliseconds()
	return mine, r.readOldest(ctx)
}

// trimKey is the transaction's key; no room has this id.
const trimKey = "retention "

// set makes the turn last for a time from now, and sets the columns in more. It returns an error if another
// process has taken the turn.
func (r *round) set(ctx context.Context, until time.Duration, more string, args ...any) error {
	return r.cfg.DB.Write(ctx, func(s sqldb.Session) error {
		now, err := s.Dialect.Now(ctx, s)
		if err != nil {
			return err
		}
		n, err := s.Exec(`UPDATE retention SET until = $2`+more+` WHERE id = 1 AND owner = $1`,
			append([]any{r.name, now + until.Milliseconds()}, args...)...)
		if err == nil && n == 0 {
			err = errors.New("another replica has the turn by now")
		}
		return err
	})
}

// end makes the next round due in an hour, for any replica.
func (r *round) end(ctx context.Context) error {
	if r.oldest == never {
		r.oldest = 0
	}
	if err := r.set(ctx, trimEvery, `, oldest = $3`, r.oldest); err != nil {
		return err
	}
	r.Trimmer.oldest.Store(r.oldest)
	return nil
}

// readOldest reads the time of the oldest row, as any replica's last round found it, for the metric.
func (t *Trimmer) readOldest(ctx context.Context) error {
	return t.cfg.DB.Read(ctx, func(s sqldb.Session) error {
		var oldest int64
		err := s.Row(`SELECT oldest FROM retention WHERE id = 1`).Scan(&oldest)
		if err == nil {
			t.oldest.Store(oldest)
		}
		return err
	})
}

// work is a session in one room.
type work struct {
	sqldb.Session
	id wire.ID
}

// inRoom runs do in a transaction that is alone in its room, across all replicas. If do fails, nothing is
// written.
func (t *Trimmer) inRoom(ctx context.Context, id wire.ID, do func(*work) error) error {
	return t.cfg.DB.Transact(ctx, string(id), func(s sqldb.Session) error { return do(&work{s, id}) })
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
