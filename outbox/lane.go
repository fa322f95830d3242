package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// lane does the tasks of one kind in a worker.
type lane struct {
	worker *Worker
	name   string
	kind   Kind
	wake   chan struct{}
	tried  tried
}

// round does tasks of a lane. One goroutine claims; each claimed task has its own goroutine.
type round struct {
	*lane
	busy     int        // tasks in progress
	finished chan error // one error for each task
}

func (l *lane) newRound() *round { return &round{lane: l, finished: make(chan error, l.kind.Parallel)} }

// tried has the phases that a lane has tried since its tick began, by task. It is safe for concurrent use.
type tried struct {
	mu     sync.Mutex
	phases map[int64][]Phase
}

func (t *tried) add(task Task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phases[task.ID] = append(t.phases[task.ID], task.Phase)
}

func (t *tried) has(task int64, phase Phase) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.phases[task], phase)
}

func (t *tried) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.phases)
}

func newLane(w *Worker, name string, k Kind) *lane {
	return &lane{worker: w, name: name, kind: k, wake: make(chan struct{}, 1),
		tried: tried{phases: make(map[int64][]Phase)}}
}

// run does tasks until ctx ends. A done task makes room for the next one at once; a failed one is not retried
// before the next tick.
func (l *lane) run(ctx context.Context) {
	r := l.newRound()
	tick := time.NewTicker(l.worker.every)
	defer tick.Stop()
	asOf, err := l.worker.store.Now(ctx)
	for {
		if err == nil {
			err = r.fill(ctx, asOf)
		}
		if err != nil && ctx.Err() == nil {
			l.worker.log.Warn("outbox waits for the database", "kind", l.name, "error", err)
		}
		select {
		case err = <-r.finished: // the database's error: the next tick is soon enough
			r.busy--
		case <-tick.C:
			l.tried.clear()
			asOf, err = l.worker.store.Now(ctx)
		case <-l.wake:
			asOf, err = l.worker.store.Now(ctx)
		case <-ctx.Done():
			_ = r.wait()
			return
		}
	}
}

// tick is one round of run.
func (l *lane) tick(ctx context.Context) error {
	r := l.newRound()
	asOf, err := l.worker.store.Now(ctx)
	if err != nil {
		return err
	}
	l.tried.clear()
	for {
		if err := r.fill(ctx, asOf); err != nil || r.busy == 0 {
			return errors.Join(err, r.wait())
		}
		err := <-r.finished
		r.busy--
		if err != nil {
			return errors.Join(err, r.wait())
		}
	}
}

// fill claims tasks until none is free or no room is left.
func (r *round) fill(ctx context.Context, asOf int64) error {
	for r.busy < r.kind.Parallel && ctx.Err() == nil {
		t, ok, err := r.worker.store.Claim(ctx, r.name, asOf)
		if err != nil || !ok {
			return err
		}
		r.busy++
		go func() { r.finished <- r.worker.work(ctx, r.lane, t) }()
	}
	return ctx.Err()
}

// wait waits for all tasks in progress, and returns their errors.
func (r *round) wait() (err error) {
	for ; r.busy > 0; r.busy-- {
		err = errors.Join(err, <-r.finished)
	}
	return err
}
