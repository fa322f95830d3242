package locktest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waitroom/waitroom/lock"
)

func (s *suite) lockWaits() {
	first := s.take(s.key, long)
	ctx, cancel := context.WithCancel(s.ctx)
	gone := s.queueLock(ctx, 1)
	second, third := s.queueLock(s.ctx, 2), s.queue(s.ctx, 3, long)
	cancel()
	s.wantErr((<-gone).err, context.Canceled)
	s.waiting(2)
	s.unlock(first)
	next := <-second
	if next.err != nil {
		s.Fatal(next.err)
	}
	s.unlock(next.held)
	last := <-third
	if last.err != nil {
		s.Fatal(last.err)
	}
	s.unlock(last.held)
	free, err := s.Lock(s.ctx, s.key, long)
	if err != nil {
		s.Fatal(err)
	}
	s.unlock(free)
}

// queueLock is queue for Lock.
func (s *suite) queueLock(ctx context.Context, n int) <-chan taken {
	s.Helper()
	result := make(chan taken, 1)
	go func() {
		held, err := s.Lock(ctx, s.key, long)
		result <- taken{held, err}
	}()
	s.waiting(n)
	return result
}

func (s *suite) extendLasts() {
	var held *lock.Lease
	var first time.Time
	err := lock.ErrNotHeld
	// try a longer lease if this one is over too early
	for lease := 500 * time.Millisecond; errors.Is(err, lock.ErrNotHeld) && lease < soon; lease *= 2 {
		held = s.atLeast(lease)
		first = held.ExpiresAt
		err = s.Extend(s.ctx, held, long)
	}
	if err != nil {
		s.Fatal(err)
	}
	if later := held.ExpiresAt.Sub(first); later < long-soon || later > long+soon {
		s.Fatalf("extended by %v, it ends %v later", long, later)
	}
	s.until("the first end is over", func() bool { return time.Now().After(first.Add(20 * time.Millisecond)) })
	s.wantHeld(held, true)
	_, err = s.TryLock(s.ctx, s.key, 0, long)
	s.wantErr(err, lock.ErrNotAcquired)
	s.wantErr(s.Extend(s.ctx, held, 0), lock.ErrInvalidLease)
	s.unlock(held)
	s.wantLocked(false)
}

func (s *suite) extendedEnds() {
	var first *lock.Lease
	var next taken
	err := lock.ErrNotHeld
	// try a longer lease if this one is over too early
	for lease := 500 * time.Millisecond; errors.Is(err, lock.ErrNotHeld) && lease < soon; lease *= 2 {
		first = s.atLeast(lease)
		second := s.ask(s.ctx, long)
		s.until("the second waits", func() bool { return s.inLine(1) || len(second) > 0 })
		err = s.Extend(s.ctx, first, 100*time.Millisecond)
		if next = <-second; next.err != nil {
			s.Fatal(next.err)
		}
		if errors.Is(err, lock.ErrNotHeld) {
			s.unlock(next.held)
		}
	}
	if err != nil {
		s.Fatal(err)
	}
	if time.Now().Before(first.ExpiresAt) {
		s.Fatal("the lock was granted again before the extended lease was over")
	}
	s.wantErr(s.Extend(s.ctx, first, long), lock.ErrNotHeld)
	s.wantHeld(next.held, true)
}

func (s *suite) staleExtendsNothing() {
	stale := s.take(s.key, long)
	s.unlock(stale)
	s.wantErr(s.Extend(s.ctx, stale, long), lock.ErrNotHeld)
	s.wantErr(s.Extend(s.ctx, nil, long), lock.ErrNotHeld)
	held := s.take(s.key, long)
	forged := lock.NewLease(held.Key, held.Fence, held.ExpiresAt, "forged")
	for _, wrong := range []*lock.Lease{stale, forged, {Key: held.Key, Fence: held.Fence}} {
		s.wantErr(s.Extend(s.ctx, wrong, long), lock.ErrNotHeld)
		s.wantErr(s.Unlock(s.ctx, wrong), lock.ErrNotHeld)
		s.wantHeld(wrong, false)
	}
	s.wantHeld(held, true)
}

func (s *suite) resumes() {
	held := s.take(s.key, long)
	again, err := s.Resume(s.ctx, held.Token())
	if err != nil {
		s.Fatal(err)
	}
	if again.Key != held.Key || again.Fence != held.Fence || again.Token() != held.Token() {
		s.Fatalf("%v was resumed as %v", held, again)
	}
	if left := time.Until(again.ExpiresAt); left < long-soon || left > long {
		s.Fatalf("a lease of %v has %v left", long, left)
	}
	if err := s.Extend(s.ctx, again, long); err != nil {
		s.Fatal(err)
	}
	s.unlock(again)
	s.wantErr(s.Unlock(s.ctx, held), lock.ErrNotHeld)
}

func (s *suite) resumesNothing() {
	over := s.take(s.key, long)
	s.unlock(over)
	held := s.take(s.key, long)
	forged := lock.NewLease(held.Key, held.Fence, held.ExpiresAt, "forged")
	for _, token := range []string{over.Token(), forged.Token(), "", "no token"} {
		_, err := s.Resume(s.ctx, token)
		s.wantErr(err, lock.ErrNotHeld)
	}
	s.wantHeld(held, true)
}

func (s *suite) anyText() {
	own := strings.TrimPrefix(s.key.String(), "locktest:")
	var held []*lock.Lease
	for _, part := range []string{"ORD-123", "ord-123", "14:00", "14", "예약", " {a}b*c?[d]", "\"\\|,;'%s%d",
		"\x00\n\r\t", "🙂", strings.Repeat("%", 64)} {
		key, err := lock.NewKey("locktest", own, part)
		if err != nil {
			s.Fatal(err)
		}
		lease, err := s.TryLock(s.ctx, key, 0, long)
		if err != nil {
			s.Fatalf("%s: %v", key, err)
		}
		held = append(held, lease)
	}
	for _, lease := range held {
		if again, err := s.Resume(s.ctx, lease.Token()); err != nil || again.Key != lease.Key {
			s.Fatalf("%v was resumed as %v, %v", lease, again, err)
		}
		s.unlock(lease)
	}
	key, err := lock.NewKey("locktest", own, "예약 14:00 {\"x\"}")
	if err != nil {
		s.Fatal(err)
	}
	s.key = key
	s.handoff()
}

func (s *suite) doValue() {
	failed := errors.New("mine")
	for _, want := range []error{nil, failed} {
		got, err := lock.DoValue(s.ctx, s, s.key, long, long, func(_ context.Context, fence int64) (int64, error) {
			return fence, want
		})
		if !errors.Is(err, want) || got <= 0 {
			s.Fatalf("DoValue is %d, %v, not a fence, %v", got, err, want)
		}
	}
	s.wantLocked(false)
}

// renewals counts the extensions that a Locker did, and has the end of the lease after the last one.
type renewals struct {
	lock.Locker
	done atomic.Int32
	ends atomic.Int64
}

func (r *renewals) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) error {
	err := r.Locker.Extend(ctx, lease, by)
	if err == nil {
		r.ends.Store(lease.ExpiresAt.UnixNano())
		r.done.Add(1)
	}
	return err
}

func (s *suite) keepAlive() {
	err := lock.ErrNotHeld
	// try a longer lease if this one is over before the test renews it
	for lease := time.Second; errors.Is(err, lock.ErrNotHeld) && lease < soon; lease *= 2 {
		r := &renewals{Locker: s.Locker}
		begun := time.Now()
		err = lock.Do(s.ctx, r, s.key, long, lease, func(ctx context.Context, _ int64) error {
			s.until("the lease was renewed", func() bool { return r.done.Load() > 0 || ctx.Err() != nil })
			if ends := time.Unix(0, r.ends.Load()); ctx.Err() == nil && !ends.After(begun.Add(lease)) {
				s.Errorf("the renewed lease ends %v after it began", ends.Sub(begun))
			}
			return context.Cause(ctx)
		}, lock.KeepAlive)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.wantLocked(false)
}
