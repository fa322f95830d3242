package lockredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

// TryLock implements lock.Locker. wait bounds the time in line; the requests themselves are bounded by ctx
// and by the client's own time-outs. A grant that arrives as the wait runs out is returned or given
// back. A waiter that lost its place, because Redis lost its data or this process was cut off for
// seconds, gets in line again.
func (l *Locker) TryLock(ctx context.Context, key lock.Key, wait, lease time.Duration) (held *lock.Lease,
	err error) {
	ctx, over := l.watch.wait(ctx, "TryLock", key)
	defer func() { over(err) }()
	if wait <= 0 {
		return l.take(ctx, key, lease, l.tryNow)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	return l.take(ctx, key, lease, func(ctx context.Context, w *waiter) (*lock.Lease, error) {
		return l.waitInLines(ctx, w, timer.C)
	})
}

// Lock implements lock.Locker, as TryLock with a wait that does not run out.
func (l *Locker) Lock(ctx context.Context, key lock.Key, lease time.Duration) (held *lock.Lease, err error) {
	ctx, over := l.watch.wait(ctx, "Lock", key)
	defer func() { over(err) }()
	return l.take(ctx, key, lease, func(ctx context.Context, w *waiter) (*lock.Lease, error) {
		return l.waitInLines(ctx, w, nil)
	})
}

func (l *Locker) take(ctx context.Context, key lock.Key, lease time.Duration,
	how func(context.Context, *waiter) (*lock.Lease, error)) (*lock.Lease, error) {
	if err := lock.Validate(key, lease); err != nil {
		return nil, err
	}
	if !l.enter() {
		return nil, lock.ErrClosed
	}
	defer l.work.Done()
	held, err := how(ctx, newWaiter(key, lease))
	return held, stored(err)
}

// tryNow takes a free lock.
func (l *Locker) tryNow(ctx context.Context, w *waiter) (*lock.Lease, error) {
	st, err := l.join(ctx, w, true)
	if errors.Is(err, room.ErrLockHeld) || errors.Is(err, room.ErrPaused) {
		return nil, lock.ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return l.granted(w, st)
}

// granted returns the lease of a join that found the lock free.
func (l *Locker) granted(w *waiter, st room.Standing) (*lock.Lease, error) {
	held := l.holding(w, grant{fence: st.Fence, expires: st.Lease.ExpiresAt})
	if held == nil {
		return nil, fmt.Errorf("%w: Redis took longer to answer than the lease", lock.ErrNotAcquired)
	}
	return held, nil
}

// waitInLines waits in line, and gets in line again where the place or the lease was lost on the way.
func (l *Locker) waitInLines(ctx context.Context, w *waiter, over <-chan time.Time) (*lock.Lease, error) {
	if err := l.subscribed(ctx); err != nil {
		return nil, err
	}
	for {
		held, err := l.waitInLine(ctx, w, over)
		if held != nil || err != nil {
			return held, err
		}
		l.watch.Lost("place")
		select {
		case <-over:
			return nil, lock.ErrNotAcquired
		default:
			w = newWaiter(w.key, w.lease)
		}
	}
}

// waitInLine returns neither lease nor error when the place was lost.
func (l *Locker) waitInLine(ctx context.Context, w *waiter, over <-chan time.Time) (*lock.Lease, error) {
	l.list(w)
	st, err := l.join(ctx, w, false)
	if err != nil {
		l.unlist(w)
		return nil, err
	}
	if st.Status == room.Locked {
		l.unlist(w)
		return l.granted(w, st)
	}
	l.placed(w, st)
	var cause error
	select {
	case g := <-w.result:
		return l.holding(w, g), nil
	case <-over:
		cause = lock.ErrNotAcquired
	case <-ctx.Done():
		cause = fmt.Errorf("wait for lock %s: %w", w.key, ctx.Err())
	case <-l.done:
		cause = lock.ErrClosed
	}
	return l.giveUp(ctx, w, cause)
}

// giveUp leaves the line, which also gives back a lock that was granted meanwhile. It keeps that lock only if
// the wait alone was over and the grant has arrived.
func (l *Locker) giveUp(ctx context.Context, w *waiter, cause error) (*lock.Lease, error) {
	l.unlist(w)
	if cause != lock.ErrNotAcquired {
		l.leaveLater(w)
		return nil, cause
	}
	select {
	case g := <-w.result:
		if held := l.holding(w, g); held != nil {
			return held, nil
		}
		return nil, cause
	default:
	}
	l.work.Add(1)
	_, err := aside(ctx, l.work.Done, func() (room.Standing, error) { return l.leave(w) }, nil)
	if err != nil && !errors.Is(err, room.ErrNoPlace) {
		return nil, fmt.Errorf("%w: %w", lock.ErrNotAcquired, err)
	}
	return nil, cause
}
