package ledger

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/room"
)

const (
	drainers       = 4
	reconcileEvery = time.Minute
	drainWithin    = 20 * time.Second
)

// Looked takes in what the engine's sweep found in a room; it does not wait. Run drains the room then. A
// journal that fills up is told loudly long before its bound.
func (l *Ledger) Looked(id room.ID, found room.Checked) {
	l.backlog.saw(id, found.Journal)
	if full := l.cfg.JournalMax; full > 0 && found.Journal*2 >= full {
		l.metrics.filling.Inc()
		if l.backlogAlarm.Allow() {
			l.log.Error("a room's journal fills up: what does not fit will be missing in the ledger", "room", string(id),
				"entries", found.Journal, "bound", full)
		}
	}
}

// alarmEvery is how often a journal that fills up is logged.
const alarmEvery = 5 * time.Second

func newAlarm() *rate.Limiter { return rate.NewLimiter(rate.Every(alarmEvery), 1) }

// Run drains the rooms that Looked names, and looks again at those that it names no more; it reconciles, at once and every minute, and trims, until ctx ends; it
// returns ctx's error. While the database is away it keeps trying.
func (l *Ledger) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range drainers {
		g.Go(func() error { return l.drainQueue(ctx) })
	}
	g.Go(func() error { return l.lookAgain(ctx) })
	g.Go(func() error { return l.reconcileAlways(ctx) })
	if l.cfg.Retention > 0 {
		g.Go(func() error { return l.trimAlways(ctx) })
	}
	return g.Wait()
}

func (l *Ledger) drainQueue(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case id := <-l.backlog.queue:
			l.drainQueued(ctx, l.backlog.taken(id))
		}
	}
}

func (l *Ledger) drainQueued(ctx context.Context, ids []room.ID) {
	ctx, cancel := context.WithTimeout(ctx, drainWithin)
	defer cancel()
	err := l.drainTogether(ctx, ids)
	if err != nil && !errors.Is(err, context.Canceled) && l.failureLog.Allow() {
		l.log.Error("ledger does not take in rooms' journals; it will try again", "rooms", ids, "error", err)
	}
}

// lookAgainEvery is how often what is known of the journals and of the database is doubted.
const lookAgainEvery = 500 * time.Millisecond

// lookAgain keeps Status true where nothing happens, until ctx ends; it returns ctx's error: rooms that nobody names any more are drained, which
// finds what other replicas took in. Where none is left, nobody would notice that a database that was away is back.
func (l *Ledger) lookAgain(ctx context.Context) error {
	for {
		if err := pause(ctx, lookAgainEvery); err != nil {
			return err
		}
		if !l.backlog.again() {
			l.db.AskAgain(ctx)
		}
	}
}

func (l *Ledger) reconcileAlways(ctx context.Context) error {
	for {
		wait := reconcileEvery
		if err := l.Reconcile(ctx); err != nil && ctx.Err() == nil {
			l.log.Warn("ledger was not reconciled", "error", err)
			wait /= 12
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// Status says how the ledger is. It is behind while the database is away or a journal is not taken in.
type Status struct {
	Behind  bool
	Since   time.Time // zero when not behind
	Pending int       // journal entries that this replica knows to wait
	Error   string    // why, without the database's password; "" when the database answers
}

// Status is for /readyz and support.
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
