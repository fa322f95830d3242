package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

// Config configures a Worker. Zero fields but Store and Kinds get the defaults.
type Config struct {
	Store      *Store
	Kinds      map[string]Kind // by Task.Kind; other kinds are left to other workers
	Tick       time.Duration   // how often the worker looks for tasks; default 1 s
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	// starts a span for each attempt, in the trace of Task.Traceparent; nil = none
	Tracer trace.Tracer
}

// Worker does tasks. Several workers, in any number of processes, may share a database.
type Worker struct {
	store   *Store
	lanes   []*lane
	every   time.Duration
	log     *slog.Logger
	metrics *metrics
	tracer  trace.Tracer
}

// NewWorker returns a worker; its error says that there is no Store, or names the kind that is not valid.
func NewWorker(c Config) (*Worker, error) {
	if c.Store == nil {
		return nil, errors.New("outbox: Config.Store is nil: a worker needs one, see NewStore")
	}
	if c.Tick <= 0 {
		c.Tick = time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	w := &Worker{store: c.Store, every: c.Tick, log: c.Log, metrics: newMetrics(c.Registerer), tracer: c.Tracer}
	for _, name := range slices.Sorted(maps.Keys(c.Kinds)) {
		kind := c.Kinds[name]
		if kind.Do == nil || name == "" || len(name) > maxName {
			return nil, fmt.Errorf("outbox: kind %q has no handler, or no name of at most %d characters", name,
				maxName)
		}
		w.lanes = append(w.lanes, newLane(w, name, kind.withDefaults(c.Store.timeout)))
	}
	return w, nil
}

const (
	tidyEvery  = time.Minute
	settleTime = 5 * time.Second // to write results while shutting down
)

// Run looks for tasks at every tick until ctx ends, and returns its error. It then cancels phases in
// progress, and releases their tasks for other workers.
func (w *Worker) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, l := range w.lanes {
		g.Go(func() error { l.run(ctx); return nil })
	}
	g.Go(func() error { w.cleanup(ctx); return nil })
	_ = g.Wait()
	for _, l := range w.lanes {
		if l.kind.Close != nil {
			l.kind.Close()
		}
	}
	return ctx.Err()
}

// Wake makes this worker look for tasks of a kind at once. A caller may have just put some in.
func (w *Worker) Wake(kind string) {
	for _, l := range w.lanes {
		if l.name != kind {
			continue
		}
		select {
		case l.wake <- struct{}{}:
		default: // a wake-up is pending already
		}
	}
}

// Tick does each claimable task's phases once. It is for tests, and for programs with their own timer.
func (w *Worker) Tick(ctx context.Context) error {
	var g errgroup.Group // no error cancels the other lanes
	for _, l := range w.lanes {
		g.Go(func() error { return l.tick(ctx) })
	}
	return g.Wait()
}

// work does a task's phase. It returns the database's error; the handler's error goes into the task. A phase
// that this tick has tried, and that UnlockTx has brought back, rests until the next.
func (w *Worker) work(ctx context.Context, l *lane, t Task) error {
	claimed, k := time.Now(), l.kind
	if l.tried.has(t.ID, t.Phase) {
		return w.overtaken(ctx, t, w.store.rest(ctx, t, w.every))
	}
	l.tried.add(t)
	ctx, end := w.span(ctx, t)
	next, failed := k.do(ctx, t)
	end(failed)
	settle, cancel := settling(ctx, claimed.Add(w.store.timeout))
	defer cancel()
	if failed != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), w.overtaken(settle, t, w.store.Release(settle, t)))
	}
	w.metrics.attempt(t, failed)
	return w.overtaken(settle, t, w.settle(settle, l, t, next, failed))
}

// settling returns a context for writing a phase's end, which may have to wait for other writers. It lasts
// until the claim is over and at least settleTime, but no longer than that once ctx has ended.
func settling(ctx context.Context, over time.Time) (context.Context, context.CancelFunc) {
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(time.Until(over), settleTime))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(settleTime, cancel) })
	return settle, func() {
		stop()
		cancel()
	}
}

// overtaken returns err, or nil if the claim is over, since that is no fault of the database.
func (w *Worker) overtaken(ctx context.Context, t Task, err error) error {
	if errors.Is(err, ErrNotHeld) {
		w.log.WarnContext(ctx, "outbox task was taken over before its phase was written down", about(t)...)
		return nil
	}
	return err
}

func (w *Worker) settle(ctx context.Context, l *lane, t Task, next Phase, failed error) error {
	if failed == nil && next == t.Phase {
		failed = fmt.Errorf("%w: the phase returned itself", ErrNotReady)
	}
	if failed == nil {
		return w.unlock(ctx, l, t, next)
	}
	k := l.kind
	now, err := w.store.Now(ctx)
	if err != nil {
		return err
	}
	gone := k.GiveUpAfter > 0 && t.waited(now) >= k.GiveUpAfter
	w.recordFailure(ctx, t, failed, gone)
	if gone || errors.Is(failed, ErrGiveUp) {
		return w.store.GiveUp(ctx, t, failed.Error())
	}
	return w.store.relock(ctx, t, failed.Error(), restAsked(failed))
}

// unlock writes the next phase, and retries until ctx ends: a phase whose end is not written is done again.
// A next phase without a valid name is a fault of the kind. The phase then counts as failed and is retried.
// So does one that returned Settled and had not ended. A phase that this tick has tried waits for the next.
func (w *Worker) unlock(ctx context.Context, l *lane, t Task, next Phase) error {
	if next == Settled {
		err := w.store.settled(ctx, t)
		if errors.Is(err, errUnsettled) {
			return w.settle(ctx, l, t, "", err)
		}
		return err
	}
	rest := time.Duration(0)
	if l.tried.has(t.ID, next) {
		rest = w.every
	}
	err := w.store.unlock(ctx, w.store.db, t, next, rest)
	for err != nil && !errors.Is(err, ErrNotHeld) && !errors.Is(err, ErrInvalidTask) {
		w.log.Warn("outbox task's phase is done and could not be written down yet",
			append(about(t), "error", err)...)
		select {
		case <-time.After(w.every):
			err = w.store.unlock(ctx, w.store.db, t, next, rest)
		case <-ctx.Done():
			return err
		}
	}
	if errors.Is(err, ErrInvalidTask) {
		return w.settle(ctx, l, t, "", err)
	}
	return err
}

// recordFailure logs why a phase was not done.
func (w *Worker) recordFailure(ctx context.Context, t Task, failed error, gone bool) {
	log := w.log.With(about(t)...).With("error", failed)
	if p := (*panicked)(nil); errors.As(failed, &p) {
		log.ErrorContext(ctx, "outbox task panicked", "stack", string(p.stack))
	}
	switch {
	case gone || errors.Is(failed, ErrGiveUp):
		log.ErrorContext(ctx, "outbox task was given up; it can be put back")
	case errors.Is(failed, ErrNotReady):
		log.DebugContext(ctx, "outbox task waits")
	default:
		log.WarnContext(ctx, "outbox task failed and will be tried again")
	}
}

// about returns a task's fields for the log, without its payload.
func about(t Task) []any {
	return []any{"task", t.ID, "kind", t.Kind, "key", t.Key, "phase", string(t.Phase), "attempts", t.Attempts}
}

// cleanup counts tasks and deletes old done ones, now and then.
func (w *Worker) cleanup(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := w.tidy(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("outbox was not tidied", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) tidy(ctx context.Context) error {
	for _, l := range w.lanes {
		counts, err := w.store.Count(ctx, l.name)
		if err != nil {
			return err
		}
		w.metrics.count(l.name, counts)
		if _, err := w.store.Forget(ctx, l.name, l.kind.Keep); err != nil {
			return err
		}
	}
	return nil
}
