package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/waitroom/waitroom/lock"
)

func (s *suite) doPanics() {
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				s.Fatalf("recovered %v", got)
			}
		}()
		_ = lock.Do(s.ctx, s, s.key, long, long, func(context.Context, int64) error { panic("mine") })
	}()
	s.wantLocked(false)
}

func (s *suite) doCancelled() {
	ctx, cancel := context.WithCancel(s.ctx)
	err := lock.Do(ctx, s, s.key, long, long, func(ctx context.Context, _ int64) error {
		cancel()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	s.wantErr(err, context.Canceled)
	if errors.Is(err, lock.ErrNotHeld) {
		s.Fatal(err)
	}
	s.wantLocked(false)
}

func (s *suite) doTooLong() {
	failed := errors.New("mine")
	err := lock.ErrNotAcquired // where the store takes longer than the lease to answer
	for lease := 30 * time.Millisecond; errors.Is(err, lock.ErrNotAcquired) && lease < time.Second; lease *= 2 {
		err = lock.Do(s.ctx, s, s.key, long, lease, func(ctx context.Context, _ int64) error {
			<-ctx.Done()
			s.wantErr(context.Cause(ctx), lock.ErrNotHeld)
			return failed
		})
	}
	s.wantErr(err, failed)
	s.wantErr(err, lock.ErrNotHeld)
	s.until("the lock is free", func() bool {
		locked, err := s.IsLocked(s.ctx, s.key)
		return err == nil && !locked
	})
}
