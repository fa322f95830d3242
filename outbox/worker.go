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

const tidyEvery = time.Minute

// Run looks for tasks at every tick until ctx ends. It then cancels the phases in progress, releases their
// tasks for other workers, and returns ctx's error.
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
