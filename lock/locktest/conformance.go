package locktest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waitroom/waitroom/lock"
)

const (
	soon = 20 * time.Second // the most that a test waits for an event
	long = time.Minute      // a wait or lease that does not run out in a test
)

// Conformance tests a Locker against the rules of the port. It calls make once for every rule.
// Beside the port, the Locker has Waiting(ctx, key) (int, error), the number of waiters, as
// lockredis.Locker and Fake do.
//
//	func TestMyLockerKeepsTheRules(t *testing.T) {
//		locktest.Conformance(t, func(t *testing.T) lock.Locker { return newMyLocker(t) })
//	}
func Conformance(t *testing.T, make func(*testing.T) lock.Locker) {
	rules := []struct {
		name string
		hold func(*suite)
	}{
		{"a free lock is taken at once, without a wait too", (*suite).freeIsTaken},
		{"without a wait no caller waits", (*suite).noWait},
		{"a wait that runs out leaves nothing behind", (*suite).waitRunsOut},
		{"an unlock hands the lock to the next in line", (*suite).handoff},
		{"the line is first come first served and fences grow", (*suite).fifo},
		{"a waiter whose context ends leaves the line", (*suite).contextEnds},
		{"a context that has ended takes nothing", (*suite).contextEnded},
		{"a lease runs out and the next in line has the lock", (*suite).leaseRunsOut},
		{"a stale holder frees nothing", (*suite).staleFreesNothing},
		{"a lease ends once", (*suite).unlockTwice},
		{"different keys never wait for each other", (*suite).keysAreApart},
		{"what is not valid is refused", (*suite).refusals},
		{"one at a time", (*suite).oneAtATime},
		{"Do unlocks after a panic", (*suite).doPanics},
		{"Do unlocks when its context is cancelled", (*suite).doCancelled},
		{"Do cancels the work when its lease is over", (*suite).doTooLong},
		{"Lock waits in the same line until its context ends", (*suite).lockWaits},
		{"an extended lease lasts longer", (*suite).extendLasts},
		{"an extended lease ends at its new end", (*suite).extendedEnds},
		{"who does not hold the lock extends and frees nothing", (*suite).staleExtendsNothing},
		{"a token resumes its lease", (*suite).resumes},
		{"no other text resumes anything", (*suite).resumesNothing},
		{"a key is any text", (*suite).anyText},
		{"DoValue returns what the work does", (*suite).doValue},
		{"KeepAlive renews the lease while the work runs", (*suite).keepAlive},
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			rule.hold(&suite{T: t, ctx: ctx, Locker: make(t), key: newKey(t)})
		})
	}
}

type suite struct {
	*testing.T
	lock.Locker
	ctx context.Context
	key lock.Key
}

// newKey returns a key that no other test has, also on a store that several tests share.
func newKey(t *testing.T) lock.Key {
	key, err := lock.NewKey("locktest", strings.ToLower(rand.Text()))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (s *suite) take(key lock.Key, lease time.Duration) *lock.Lease {
	s.Helper()
	held, err := s.TryLock(s.ctx, key, long, lease)
	if err != nil {
		s.Fatalf("TryLock: %v", err)
	}
	return held
}

// brief takes the lock for a lease that ends soon. The lease is longer where the
// store takes as long to answer.
func (s *suite) brief() *lock.Lease {
	s.Helper()
	return s.atLeast(50 * time.Millisecond)
}

func (s *suite) atLeast(lease time.Duration) *lock.Lease {
	s.Helper()
	for most := max(lease, time.Second); ; lease *= 2 {
		held, err := s.TryLock(s.ctx, s.key, long, lease)
		if err == nil {
			return held
		}
		if !errors.Is(err, lock.ErrNotAcquired) || lease > most {
			s.Fatalf("TryLock: %v", err)
		}
	}
}

func (s *suite) unlock(held *lock.Lease) {
	s.Helper()
	if err := s.Unlock(s.ctx, held); err != nil {
		s.Fatalf("Unlock: %v", err)
	}
}

type taken struct {
	held *lock.Lease
	err  error
}

// queue starts a TryLock and returns when it is the n-th in line.
func (s *suite) queue(ctx context.Context, n int, wait time.Duration) <-chan taken {
	s.Helper()
	result := s.ask(ctx, wait)
	s.waiting(n)
	return result
}

// ask starts a TryLock.
func (s *suite) ask(ctx context.Context, wait time.Duration) <-chan taken {
	result := make(chan taken, 1)
	go func() {
		held, err := s.TryLock(ctx, s.key, wait, long)
		result <- taken{held, err}
	}()
	return result
}

// waiting returns when n wait.
func (s *suite) waiting(n int) {
	s.Helper()
	s.until("the line's length is right", func() bool { return s.inLine(n) })
}

// inLine reports whether n wait.
func (s *suite) inLine(n int) bool {
	s.Helper()
	line, ok := s.Locker.(interface {
		Waiting(context.Context, lock.Key) (int, error)
	})
	if !ok {
		s.Fatal("the suite needs a Locker that also counts who is Waiting")
	}
	have, err := line.Waiting(s.ctx, s.key)
	return err == nil && have == n
}

func (s *suite) until(what string, true func() bool) {
	s.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !true() {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			s.Fatalf("still not so: %s", what)
		}
	}
}

func (s *suite) wantErr(got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Fatalf("error is %v, not %v", got, want)
	}
}

func (s *suite) wantLocked(want bool) {
	s.Helper()
	if got, err := s.IsLocked(s.ctx, s.key); err != nil || got != want {
		s.Fatalf("IsLocked is %t, %v, not %t", got, err, want)
	}
}

func (s *suite) wantHeld(held *lock.Lease, want bool) {
	s.Helper()
	if got, err := s.IsHeld(s.ctx, held); err != nil || got != want {
		s.Fatalf("IsHeld is %t, %v, not %t", got, err, want)
	}
}

func (s *suite) freeIsTaken() {
	s.wantLocked(false)
	for _, wait := range []time.Duration{0, long} {
		held, err := s.TryLock(s.ctx, s.key, wait, long)
		if err != nil {
			s.Fatal(err)
		}
		if held.Key != s.key || held.Fence <= 0 || time.Until(held.ExpiresAt) > long {
			s.Fatalf("lease is %v until %v", held, held.ExpiresAt)
		}
		s.wantLocked(true)
		s.wantHeld(held, true)
		s.unlock(held)
		s.wantLocked(false)
		s.wantHeld(held, false)
	}
}

func (s *suite) noWait() {
	held := s.take(s.key, long)
	_, err := s.TryLock(s.ctx, s.key, 0, long)
	s.wantErr(err, lock.ErrNotAcquired)
	s.waiting(0)
	s.wantHeld(held, true)
}

func (s *suite) waitRunsOut() {
	held := s.take(s.key, long)
	_, err := s.TryLock(s.ctx, s.key, time.Millisecond, long)
	s.wantErr(err, lock.ErrNotAcquired)
	s.waiting(0)
	s.wantHeld(held, true)
	s.unlock(held)
	s.wantLocked(false)
}

func (s *suite) handoff() {
	first := s.take(s.key, long)
	second := s.queue(s.ctx, 1, long)
	s.unlock(first)
	next := <-second
	if next.err != nil {
		s.Fatal(next.err)
	}
	s.wantHeld(next.held, true)
	s.unlock(next.held)
}

func (s *suite) fifo() {
	held := s.take(s.key, long)
	var line []<-chan taken
	for i := range 8 {
		line = append(line, s.queue(s.ctx, i+1, long))
	}
	for i, place := range line {
		s.unlock(held)
		next := <-place
		if next.err != nil {
			s.Fatalf("waiter %d: %v", i+1, next.err)
		}
		if next.held.Fence <= held.Fence {
			s.Fatalf("fence %d is not above %d", next.held.Fence, held.Fence)
		}
		held = next.held
	}
	s.unlock(held)
}

func (s *suite) contextEnds() {
	held := s.take(s.key, long)
	ctx, cancel := context.WithCancel(s.ctx)
	first, second := s.queue(ctx, 1, long), s.queue(s.ctx, 2, long)
	cancel()
	s.wantErr((<-first).err, context.Canceled)
	s.waiting(1)
	s.unlock(held)
	next := <-second
	if next.err != nil {
		s.Fatal(next.err)
	}
	s.unlock(next.held)
}

func (s *suite) contextEnded() {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err := s.TryLock(ctx, s.key, long, long)
	s.wantErr(err, context.Canceled)
	s.wantLocked(false)
	held := s.take(s.key, long)
	s.wantErr(s.Unlock(ctx, held), context.Canceled)
	_, err = s.IsHeld(ctx, held)
	s.wantErr(err, context.Canceled)
	_, err = s.IsLocked(ctx, s.key)
	s.wantErr(err, context.Canceled)
	s.wantErr(s.Extend(ctx, held, long), context.Canceled)
	_, err = s.Resume(ctx, held.Token())
	s.wantErr(err, context.Canceled)
	_, err = s.Lock(ctx, s.key, long)
	s.wantErr(err, context.Canceled)
	s.wantHeld(held, true)
}

func (s *suite) leaseRunsOut() {
	first := s.brief()
	second := s.take(s.key, long)
	if second.Fence <= first.Fence {
		s.Fatalf("fence %d is not above %d", second.Fence, first.Fence)
	}
	if time.Now().Before(first.ExpiresAt) {
		s.Fatal("the lock was granted again before the first holder believed its lease over")
	}
	s.wantHeld(first, false)
	s.wantHeld(second, true)
}

func (s *suite) staleFreesNothing() {
	stale := s.brief()
	held := s.take(s.key, long)
	s.wantErr(s.Unlock(s.ctx, stale), lock.ErrNotHeld)
	s.wantHeld(held, true)
	s.wantLocked(true)
	s.unlock(held)
}

func (s *suite) unlockTwice() {
	held := s.take(s.key, long)
	s.unlock(held)
	s.wantErr(s.Unlock(s.ctx, held), lock.ErrNotHeld)
	s.wantErr(s.Unlock(s.ctx, nil), lock.ErrNotHeld)
	s.wantHeld(nil, false)
	again := s.take(s.key, long)
	s.wantErr(s.Unlock(s.ctx, held), lock.ErrNotHeld)
	s.wantHeld(again, true)
}

func (s *suite) keysAreApart() {
	one, other := s.take(s.key, long), s.take(newKey(s.T), long)
	s.unlock(one)
	s.wantHeld(other, true)
	s.unlock(other)
}

func (s *suite) refusals() {
	_, err := s.TryLock(s.ctx, lock.Key{}, long, long)
	s.wantErr(err, lock.ErrInvalidKey)
	_, err = s.TryLock(s.ctx, s.key, long, 0)
	s.wantErr(err, lock.ErrInvalidLease)
	_, err = s.Lock(s.ctx, lock.Key{}, long)
	s.wantErr(err, lock.ErrInvalidKey)
	_, err = s.Lock(s.ctx, s.key, 0)
	s.wantErr(err, lock.ErrInvalidLease)
	_, err = s.IsLocked(s.ctx, lock.Key{})
	s.wantErr(err, lock.ErrInvalidKey)
	s.wantLocked(false)
}

func (s *suite) oneAtATime() {
	const contenders, turns = 16, 4
	var inside, done int // only the lock guards them
	var all sync.WaitGroup
	for range contenders {
		all.Go(func() {
			for range turns {
				err := lock.Do(s.ctx, s, s.key, long, long, func(context.Context, int64) error {
					if inside++; inside != 1 {
						s.Errorf("%d at a time", inside)
					}
					inside--
					done++
					return nil
				})
				if err != nil {
					s.Error(err)
				}
			}
		})
	}
	all.Wait()
	if done != contenders*turns {
		s.Fatalf("%d turns, not %d", done, contenders*turns)
	}
}
