package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// unlockWithin bounds the unlock of Do, which ctx does not end.
const unlockWithin = 5 * time.Second

// Option changes how Do and DoValue hold the lock; KeepAlive is one.
type Option func(*holding)

// Do runs fn while it has the lock, and always unlocks: after a return, an error, a panic (which goes on) and
// a cancelled ctx.
//
// fn's context is cancelled when the lease is over, with ErrNotHeld as its context.Cause. The lease counts
// from before the request, by this process's monotonic clock, so it is cancelled before any other caller can
// get the lock. fn is not stopped by force: work that must not happen twice hands the fence to each
// system that it writes to.
//
// Do returns TryLock's error without running fn, else fn's. Joined to that, also to nil, is
//
//   - ErrNotHeld where the lease was over before fn ended, or another caller had ended it: the lock may have
//     had another holder meanwhile;
//   - ErrUnlock with its cause where the lock could not be given back: fn had it as long as it ran, and it
//     is free at the end of its lease.
func Do(ctx context.Context, locker Locker, key Key, wait, lease time.Duration,
	fn func(ctx context.Context, fence int64) error, opts ...Option) error {
	_, err := DoValue(ctx, locker, key, wait, lease, func(ctx context.Context, fence int64) (struct{}, error) {
		return struct{}{}, fn(ctx, fence)
	}, opts...)
	return err
}

// DoValue is Do for work with a result, which it returns beside any error.
func DoValue[T any](ctx context.Context, locker Locker, key Key, wait, lease time.Duration,
	fn func(ctx context.Context, fence int64) (T, error), opts ...Option) (value T, err error) {
	held, err := locker.TryLock(ctx, key, wait, lease)
	if err != nil {
		return value, err
	}
	h := &holding{locker: locker, held: held, lease: lease}
	for _, opt := range opts {
		opt(h)
	}
	work, stop := h.begin(ctx)
	defer func() {
		if failed := h.end(ctx, work, stop); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	return fn(work, held.Fence)
}

// holding is one Do that has the lock.
type holding struct {
	locker    Locker
	held      *Lease
	lease     time.Duration
	keepAlive bool
	unsure    bool // whether the last renewal has no known result
}

// begin returns the context of the work, which ends with the lease. The caller calls stop; it returns when
// nothing else uses the lease any more.
func (h *holding) begin(ctx context.Context) (work context.Context, stop func()) {
	if h.keepAlive {
		return h.keep(ctx)
	}
	return context.WithDeadlineCause(ctx, h.held.ExpiresAt, ErrNotHeld)
}

// end unlocks, and returns why the lock may not have been held to the last, or is held still.
func (h *holding) end(ctx, work context.Context, stop func()) error {
	late := errors.Is(context.Cause(work), ErrNotHeld)
	stop()
	late = late || !time.Now().Before(h.held.ExpiresAt)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWithin)
	defer cancel()
	switch err := h.locker.Unlock(ctx, h.held); {
	case late || errors.Is(err, ErrNotHeld):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnlock, err)
	}
	return nil
}
