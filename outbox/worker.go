package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
)

// Config says where to and how. Zero fields get the defaults.
type Config struct {
	Store      *Store
	URL        string // where to post to
	Secret     string // base64, with or without whsec_ before it
	Parallel   int    // how many tasks are worked on at a time, of different leases; default 8
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
	// Recorded is called when the receiver has a task, at least once, to write it in the books; nil = nothing to write.
	Recorded func(context.Context, Task) error
}

// Worker works off tasks. Several, in any number of processes, may share a database.
type Worker struct {
	store    *Store
	sender   *sender
	parallel int
	log      *slog.Logger
	recorded func(context.Context, Task) error
	metrics  *metrics
}

// NewWorker checks the address and the secret; its error names the setting, not the value.
func NewWorker(c Config) (*Worker, error) {
	s, err := newSender(c.URL, c.Secret)
	if err != nil {
		return nil, err
	}
	if c.Parallel == 0 {
		c.Parallel = 8
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Recorded == nil {
		c.Recorded = func(context.Context, Task) error { return nil }
	}
	return &Worker{store: c.Store, sender: s, parallel: c.Parallel, log: c.Log, recorded: c.Recorded,
		metrics: newMetrics(c.Registerer)}, nil
}

const (
	tickEvery  = time.Second
	tidyEvery  = time.Minute
	keepDone   = 7 * 24 * time.Hour
	settleTime = 5 * time.Second // to write down what is known, also while shutting down
)

// Run ticks every second until ctx ends, and returns its error. A task whose delivery the end cuts
// short stays locked: after 30 seconds another worker takes it over.
func (w *Worker) Run(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	var tidied time.Time
	for {
		if err := w.Tick(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("outbox waits for the database", "error", err)
		}
		if time.Since(tidied) >= tidyEvery {
			w.tidy(ctx)
			tidied = time.Now()
		}
		select {
		case <-ctx.Done():
			w.sender.client.CloseIdleConnections()
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Tick works off what can be claimed now: each task's phases once.
func (w *Worker) Tick(ctx context.Context) error {
	asOf, err := w.store.Now(ctx)
	if err != nil {
		return err
	}
	first, ok, err := w.store.Claim(ctx, asOf)
	if err != nil || !ok {
		return err // most ticks end here, with one question asked
	}
	var g errgroup.Group // one that fails does not cut the others' deliveries short
	g.Go(func() error {
		if err := w.work(ctx, first); err != nil {
			return err
		}
		return w.drain(ctx, asOf)
	})
	for range w.parallel - 1 {
		g.Go(func() error { return w.drain(ctx, asOf) })
	}
	return g.Wait()
}

func (w *Worker) drain(ctx context.Context, asOf int64) error {
	for {
		task, ok, err := w.store.Claim(ctx, asOf)
		if err != nil || !ok {
			return err
		}
		if err := w.work(ctx, task); err != nil {
			return err
		}
	}
}

// work does the phase the task is in. Its error is the database's; the receiver's is the task's.
func (w *Worker) work(ctx context.Context, t Task) error {
	next, failed := w.step(ctx, t)
	if failed != nil && ctx.Err() != nil {
		return ctx.Err() // whether it was delivered is not known: whoever takes it over asks again
	}
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	err := w.settle(settle, t, next, failed)
	if errors.Is(err, ErrNotHeld) {
		w.log.Warn("outbox task was taken over", "task", t.ID, "type", t.Type, "room", t.Room)
		return nil
	}
	return err
}

// step does the phase; next is the one to follow where it did not fail.
func (w *Worker) step(ctx context.Context, t Task) (next Phase, failed error) {
	if t.Phase == Record {
		return Done, w.recorded(ctx, t)
	}
	at, err := w.store.Now(ctx)
	if err != nil {
		return Record, err
	}
	err = w.sender.send(ctx, t, time.UnixMilli(at))
	w.metrics.attempt(err)
	return Record, err
}

func (w *Worker) settle(ctx context.Context, t Task, next Phase, failed error) error {
	if failed == nil {
		return w.store.Unlock(ctx, t, next)
	}
	phase, err := w.store.Relock(ctx, t, failed.Error())
	if err != nil {
		return err
	}
	if phase == Dead {
		w.log.Error("outbox gave a task up after 24 hours; support can retry it", "task", t.ID, "type", t.Type,
			"room", t.Room, "error", failed)
		return nil
	}
	w.log.Warn("outbox task failed and will be tried again", "task", t.ID, "phase", t.Phase, "type", t.Type,
		"room", t.Room, "attempts", t.Attempts, "error", failed)
	return nil
}

// tidy counts what is there and forgets what was done long ago.
func (w *Worker) tidy(ctx context.Context) {
	counts, err := w.store.Count(ctx)
	if err == nil {
		w.metrics.count(counts)
		_, err = w.store.Forget(ctx, keepDone)
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn("outbox was not tidied", "error", fmt.Errorf("tidy: %w", err))
	}
}
