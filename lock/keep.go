package lock

import (
	"context"
	"errors"
	"time"
)

const (
	renewals     = 3  // a lease is renewed when a third of it is over
	attemptsEach = 10 // and, after a failure, once more after a tenth of it, until it is over
)

// KeepAlive is an Option: it renews the lease, each third of it, for as long as the function runs,
// be its context cancelled or not. So long work needs only a short lease, which a killed process
// blocks others with. The function's context is cancelled as soon as the lease is known to be over,
// or could not be renewed in time.
//
// A function that hangs holds the lock for as long as its process lives: give it a deadline.
func KeepAlive(h *holding) { h.keepAlive = true }

// keep is begin for a lease that is renewed.
func (h *holding) keep(ctx context.Context) (work context.Context, stop func()) {
	work, cancel := context.WithCancelCause(ctx)
	over := time.AfterFunc(time.Until(h.held.ExpiresAt), func() { cancel(ErrNotHeld) })
	renewing, enough := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.renew(renewing, over, func() { cancel(ErrNotHeld) })
	}()
	return work, func() {
		enough()
		<-done
		over.Stop()
		cancel(context.Canceled)
	}
}

// renew renews until ctx or the lease ends.
func (h *holding) renew(ctx context.Context, over *time.Timer, lost func()) {
	next := time.NewTimer(h.lease / renewals)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		switch err := h.renewOnce(ctx); {
		case err == nil:
			over.Reset(time.Until(h.held.ExpiresAt))
			next.Reset(h.lease / renewals)
		case errors.Is(err, ErrNotHeld) || !time.Now().Before(h.held.ExpiresAt):
			lost()
			return
		default:
			next.Reset(h.lease / attemptsEach)
		}
	}
}

// renewOnce makes the lease end a whole lease from now. It ends after a third of one, so that an attempt that
// hangs leaves time for another. After a failed attempt it first asks the store for the lease's end.
func (h *holding) renewOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(h.lease/renewals, time.Until(h.held.ExpiresAt)))
	defer cancel()
	if h.unsure {
		now, err := h.locker.Resume(ctx, h.held.Token())
		if err != nil {
			return err
		}
		h.held.ExpiresAt, h.unsure = now.ExpiresAt, false
	}
	by := h.lease - time.Until(h.held.ExpiresAt)
	if by < time.Millisecond {
		return nil
	}
	err := h.locker.Extend(ctx, h.held, by)
	h.unsure = err != nil
	return err
}
