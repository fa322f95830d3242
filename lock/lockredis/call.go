package lockredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// enter counts one more call for Close to wait for; false once closed.
func (l *Locker) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.work.Add(1)
	}
	return !l.closed
}

// call runs f, and returns as soon as ctx ends. Close waits for f if the call began before Close was called.
func call[T any](ctx context.Context, l *Locker, f func() (T, error)) (T, error) {
	done := func() {}
	if l.enter() {
		done = l.work.Done
	}
	return run(ctx, l, done, f, nil)
}

// further is call within another call, for which Close waits already: so Close waits for f, too. If ctx ends
// before f returns, late gets f's result; it may be nil.
func further[T any](ctx context.Context, l *Locker, f func() (T, error), late func(T, error)) (T, error) {
	l.work.Add(1)
	return run(ctx, l, l.work.Done, f, late)
}

// run returns as soon as ctx ends, by which the interrupter ends f, too. Without one, f goes on in a
// goroutine.
func run[T any](ctx context.Context, l *Locker, done func(), f func() (T, error),
	late func(T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		done()
		var none T
		return none, fmt.Errorf("lock: %w", err)
	}
	if ctx.Done() == nil || l.interrupter != nil {
		defer done()
		value, err := f()
		return value, ended(ctx, err)
	}
	return aside(ctx, done, f, late)
}

// aside runs f in a goroutine, and returns as soon as ctx ends. f then goes on.
func aside[T any](ctx context.Context, done func(), f func() (T, error), late func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	answer := make(chan result) // unbuffered: either the caller takes it, or late does
	go func() {
		defer done()
		value, err := f()
		select {
		case answer <- result{value, err}:
		case <-ctx.Done():
			if late != nil {
				late(value, err)
			}
		}
	}()
	select {
	case r := <-answer:
		return r.value, ended(ctx, r.err)
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("lock: %w", ctx.Err())
	}
}

// ended returns the error of a call: ctx's where that is the cause.
func ended(ctx context.Context, err error) error {
	if err != nil && !room.Refused(err) && ctx.Err() != nil {
		return fmt.Errorf("lock: %w", ctx.Err())
	}
	return err
}

// join asks for the lock or a place in line. After any failure, it leaves no place behind.
func (l *Locker) join(ctx context.Context, w *waiter, now bool) (room.Standing, error) {
	q := room.JoinRequest{Fresh: true, Session: w.session, NoWait: now, Lease: w.lease}
	if !now {
		q.Channel, q.Vouch = l.channel, l.heartbeat
	}
	w.sent = time.Now()
	st, err := further(ctx, l, func() (room.Standing, error) {
		st, err := l.engine.Join(ctx, roomOf(w.key), q)
		if err != nil && !room.Refused(err) {
			l.takeBack(ctx, w) // it may have been done
		}
		return st, err
	}, func(_ room.Standing, err error) {
		if err == nil {
			l.leaveLater(w)
		}
	})
	w.redisNow = st.Now
	return st, err
}

// leave ends a waiter's place, or its lease if it has the lock by now; the next in line then gets the lock.
func (l *Locker) leave(w *waiter) (room.Standing, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	st, err := l.engine.Leave(ctx, roomOf(w.key), room.LeaveRequest{Session: w.session, Outcome: room.Cancelled})
	if err == nil {
		l.note(roomOf(w.key), st.View)
	}
	return st, err
}

// leaveLater leaves in the background. If that fails, the place is passed over after its last heartbeat, or
// its lease expires.
func (l *Locker) leaveLater(w *waiter) { l.work.Go(func() { l.leaveNow(w) }) }

// leaveNow leaves, and reports whether there was no place.
func (l *Locker) leaveNow(w *waiter) (none bool) {
	_, err := l.leave(w)
	if err != nil && !room.Refused(err) {
		l.watch.Failed("background")
		l.log.Warn("lock: leave line", "key", w.key.String(), "error", err)
	}
	return errors.Is(err, room.ErrNoPlace)
}

// takeBack is leaveLater after a join without an answer. A join that was interrupted may get to Redis after
// the leave, on another connection: where takeBack finds no place, it leaves once more.
func (l *Locker) takeBack(ctx context.Context, w *waiter) {
	l.work.Go(func() {
		if none := l.leaveNow(w); !none || ctx.Err() == nil {
			return
		}
		again := time.NewTimer(leaveAgain)
		defer again.Stop()
		select {
		case <-again.C:
		case <-l.done:
		}
		l.leaveNow(w)
	})
}
