package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// lane does the tasks of one kind in a worker. One goroutine claims; each claimed task has its own goroutine.
type lane struct {
	worker   *Worker
	name     string
	kind     Kind
	busy     int        // tasks in progress
	finished chan error // one error for each task
	wake     chan struct{}
	tried    *tried
}

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
		tried: &tried{phases: make(map[int64][]Phase)}}
}

// run does tasks until ctx ends. A done task makes room for the next one at once; a failed one is not retried
// before the next tick.
func (l lane) run(ctx context.Context) {
	l.finished = make(chan error, l.kind.Parallel)
	tick := time.NewTicker(l.worker.every)
	defer tick.Stop()
	asOf, err := l.worker.store.Now(ctx)
	for {
		if err == nil {
			err = l.fill(ctx, asOf)
		}
		if err != nil && ctx.Err() == nil {
			l.worker.log.Warn("outbox waits for the database", "kind", l.name, "error", err)
		}
		select {
		case err = <-l.finished: // the database's error: the next tick is soon enough
			l.busy--
		case <-tick.C:
			l.tried.clear()
			asOf, err = l.worker.store.Now(ctx)
		case <-l.wake:
			asOf, err = l.worker.store.Now(ctx)
		case <-ctx.Done():
			_ = l.wait()
			return
		}
	}
}

// tick is one round of run.
func (l lane) tick(ctx context.Context) error {
	l.finished = make(chan error, l.kind.Parallel)
	asOf, err := l.worker.store.Now(ctx)
	if err != nil {
		return err
	}
	l.tried.clear()
	for {
		if err := l.fill(ctx, asOf); err != nil || l.busy == 0 {
			return errors.Join(err, l.wait())
		}
		err := <-l.finished
		l.busy--
		if err != nil {
			return errors.Join(err, l.wait())
		}
	}
}

// fill claims tasks until none is free or no room is left.
func (l *lane) fill(ctx context.Context, asOf int64) error {
	for l.busy < l.kind.Parallel && ctx.Err() == nil {
		t, ok, err := l.worker.store.Claim(ctx, l.name, asOf)
		if err != nil || !ok {
			return err
		}
		l.busy++
		finished := l.finished
		go func() { finished <- l.worker.work(ctx, l, t) }()
	}
	return ctx.Err()
}

// wait waits for all tasks in progress, and returns their errors.
func (l *lane) wait() (err error) {
	for ; l.busy > 0; l.busy-- {
		err = errors.Join(err, <-l.finished)
	}
	return err
}
