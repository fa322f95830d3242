package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// lane does the tasks of one kind in a worker.
type lane struct {
	worker *Worker
	name   string
	kind   Kind
	wake   chan struct{}
	tried  sync.Map // each try since the lane's tick began
}

// round does tasks of a lane. One goroutine claims; each claimed task has its own goroutine.
type round struct {
	*lane
	busy     int        // tasks in progress
	finished chan error // one error for each task
}

func (l *lane) newRound() *round { return &round{lane: l, finished: make(chan error, l.kind.Parallel)} }

// try is a phase of a task, by the task's id.
type try struct {
	task  int64
	phase Phase
}

func newLane(w *Worker, name string, k Kind) *lane {
	return &lane{worker: w, name: name, kind: k, wake: make(chan struct{}, 1)}
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
			l.tried.Clear()
			asOf, err = l.worker.store.Now(ctx)
		case <-l.wake:
			asOf, err = l.worker.store.Now(ctx)
		case <-ctx.Done():
			_ = r.wait()
			return
		}
	}
}

// tick does the lane's free tasks: it claims until none is left, and waits for those in progress.
func (l *lane) tick(ctx context.Context) error {
	r := l.newRound()
	asOf, err := l.worker.store.Now(ctx)
	if err != nil {
		return err
	}
	l.tried.Clear()
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
		go func() { r.finished <- r.work(ctx, t) }()
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

// work does a task's phase. It returns the database's error; the handler's error goes into the task. A phase
// that this tick has tried, and that UnlockTx has brought back, rests until the next.
func (l *lane) work(ctx context.Context, t Task) error {
	w, claimed := l.worker, time.Now()
	if _, again := l.tried.LoadOrStore(try{t.ID, t.Phase}, true); again {
		return l.overtaken(ctx, t, w.store.rest(ctx, t, w.every))
	}
	ctx, end := w.span(ctx, t)
	next, failed := l.kind.do(ctx, t)
	end(failed)
	settle, cancel := settling(ctx, claimed.Add(w.store.timeout))
	defer cancel()
	if failed != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), l.overtaken(settle, t, w.store.Release(settle, t)))
	}
	w.metrics.attempt(t, failed)
	return l.overtaken(settle, t, l.settle(settle, t, next, failed))
}

// settleTime is how long writing a result may take while the worker shuts down.
const settleTime = 5 * time.Second

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
func (l *lane) overtaken(ctx context.Context, t Task, err error) error {
	if errors.Is(err, ErrNotHeld) {
		l.worker.log.WarnContext(ctx, "outbox task was taken over before its phase was written down", about(t)...)
		return nil
	}
	return err
}

// settle writes the end of a phase: the next one, or why it failed.
func (l *lane) settle(ctx context.Context, t Task, next Phase, failed error) error {
	if failed == nil && next == t.Phase {
		failed = fmt.Errorf("%w: the phase returned itself", ErrNotReady)
	}
	if failed == nil {
		return l.unlock(ctx, t, next)
	}
	w := l.worker
	now, err := w.store.Now(ctx)
	if err != nil {
		return err
	}
	gone := l.kind.GiveUpAfter > 0 && t.waited(now) >= l.kind.GiveUpAfter
	w.recordFailure(ctx, t, failed, gone)
	if gone || errors.Is(failed, ErrGiveUp) {
		return w.store.GiveUp(ctx, t, failed.Error())
	}
	return w.store.relock(ctx, t, failed.Error(), restAsked(failed))
}

// unlock writes the next phase, and retries until ctx ends: a phase whose end is not written is done again.
// A phase that returns an invalid name, or Settled without having ended, counts as failed and is retried. If
// this tick has tried the next phase already, the task rests for one tick.
func (l *lane) unlock(ctx context.Context, t Task, next Phase) error {
	w := l.worker
	if next == Settled {
		err := w.store.settled(ctx, t)
		if errors.Is(err, errUnsettled) {
			return l.settle(ctx, t, "", err)
		}
		return err
	}
	rest := time.Duration(0)
	if _, again := l.tried.Load(try{t.ID, next}); again {
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
		return l.settle(ctx, t, "", err)
	}
	return err
}
