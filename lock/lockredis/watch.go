package lockredis

import (
	"context"
	"errors"
	"time"

	"github.com/waitroom/waitroom/lock"
)

// watch counts and traces the locker's calls.
type watch struct {
	Metrics
	tracer Tracer
}

// call begins a span; the returned function ends it, and counts losses and failures.
func (w *watch) call(ctx context.Context, name string, key lock.Key) (context.Context, func(error)) {
	ctx, end := w.tracer.Start(ctx, name, key)
	return ctx, func(err error) {
		defer end(err)
		if errors.Is(err, lock.ErrNotHeld) {
			w.Lost("lease")
		}
		if errors.Is(err, lock.ErrStore) {
			w.Failed(name)
		}
	}
}

// wait is call for the calls that wait for the lock.
func (w *watch) wait(ctx context.Context, name string, key lock.Key) (context.Context, func(error)) {
	begun := time.Now()
	ctx, over := w.call(ctx, name, key)
	return ctx, func(err error) {
		w.Took(result(err), time.Since(begun))
		over(err)
	}
}

func result(err error) string {
	switch {
	case err == nil:
		return "acquired"
	case errors.Is(err, lock.ErrStore):
		return "failed"
	case errors.Is(err, lock.ErrNotAcquired):
		return "not_acquired"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "refused"
}

// held counts a hold that was over at unix ms `now` of Redis's clock. A fence is the time of its grant in
// microseconds of that clock, unless that clock has gone back.
func (w *watch) held(lease *lock.Lease, now int64) {
	w.Took("held", max(0, time.Duration(now)*time.Millisecond-time.Duration(lease.Fence)*time.Microsecond))
}
