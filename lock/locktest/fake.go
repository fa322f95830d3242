// Package locktest has a lock.Locker in memory for tests, and the suite of rules that every Locker keeps.
package locktest

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/lock"
)

// Fake is a lock.Locker in the memory of one process: fair, fenced, with leases that expire. It needs nothing
// to be started and uses the time package alone, so it also works in a testing/synctest bubble.
type Fake struct {
	mu    sync.Mutex
	keys  map[lock.Key]*state
	fence int64
	err   error
}

// state is one key's lock and line.
type state struct {
	fence int64 // of the live lease; 0 = free
	proof string
	until time.Time
	timer *time.Timer
	line  []*waiter
}

type waiter struct {
	lease   time.Duration
	granted chan *lock.Lease
}

var _ lock.Locker = (*Fake)(nil)

// NewFake returns a Fake whose locks are all free.
func NewFake() *Fake { return &Fake{keys: make(map[lock.Key]*state)} }

// Break makes every call fail from now on with an error that wraps lock.ErrStore, as if Redis were away;
// Repair ends it. Leases run on meanwhile.
func (f *Fake) Break() { f.setErr(fmt.Errorf("%w: broken by the test", lock.ErrStore)) }

// Repair ends Break.
func (f *Fake) Repair() { f.setErr(nil) }

func (f *Fake) setErr(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Expire ends the key's lease as if its time were over, and the next in line gets the lock. The holder
// notices as it would in production.
func (f *Fake) Expire(key lock.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next(key, f.key(key))
}

// TryLock implements lock.Locker.
func (f *Fake) TryLock(ctx context.Context, key lock.Key, wait, lease time.Duration) (*lock.Lease, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	return f.take(ctx, key, lease, wait > 0, over.C)
}

// Lock implements lock.Locker.
func (f *Fake) Lock(ctx context.Context, key lock.Key, lease time.Duration) (*lock.Lease, error) {
	return f.take(ctx, key, lease, true, nil)
}

func (f *Fake) take(ctx context.Context, key lock.Key, lease time.Duration, waits bool,
	over <-chan time.Time) (*lock.Lease, error) {
	if err := lock.Validate(key, lease); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	held, w, err := f.ask(key, waits, lease)
	if held != nil || err != nil {
		return held, err
	}
	select {
	case held := <-w.granted:
		return held, nil
	case <-over:
		err = lock.ErrNotAcquired
	case <-ctx.Done():
		err = fmt.Errorf("lock %s: %w", key, ctx.Err())
	}
	f.giveUp(key, w)
	return nil, err
}

// ask returns a lease, or a place in line, or the error.
func (f *Fake) ask(key lock.Key, waits bool, lease time.Duration) (*lock.Lease, *waiter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, nil, f.err
	}
	s := f.key(key)
	if s.fence == 0 {
		return f.grant(key, s, lease), nil, nil
	}
	if !waits {
		return nil, nil, lock.ErrNotAcquired
	}
	w := &waiter{lease: lease, granted: make(chan *lock.Lease, 1)}
	s.line = append(s.line, w)
	return nil, w, nil
}

// giveUp leaves the line, and gives back a lock that was granted meanwhile.
func (f *Fake) giveUp(key lock.Key, w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.key(key)
	s.line = slices.DeleteFunc(s.line, func(other *waiter) bool { return other == w })
	select {
	case held := <-w.granted:
		if s.fence == held.Fence {
			f.next(key, s)
		}
	default:
	}
}

// Unlock implements lock.Locker.
func (f *Fake) Unlock(ctx context.Context, lease *lock.Lease) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(ctx); err != nil {
		return err
	}
	if !f.live(lease) {
		return lock.ErrNotHeld
	}
	f.next(lease.Key, f.key(lease.Key))
	return nil
}

// Extend implements lock.Locker.
func (f *Fake) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(ctx); err != nil {
		return err
	}
	if by < time.Millisecond {
		return lock.ErrInvalidLease
	}
	if !f.live(lease) {
		return lock.ErrNotHeld
	}
	s := f.key(lease.Key)
	s.until = s.until.Add(by)
	s.timer.Reset(time.Until(s.until))
	lease.ExpiresAt = s.until
	return nil
}

// Resume implements lock.Locker.
func (f *Fake) Resume(ctx context.Context, token string) (*lock.Lease, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(ctx); err != nil {
		return nil, err
	}
	lease, err := lock.ParseToken(token)
	if err != nil {
		return nil, err
	}
	if !f.live(lease) {
		return nil, lock.ErrNotHeld
	}
	lease.ExpiresAt = f.key(lease.Key).until
	return lease, nil
}

// IsHeld implements lock.Locker.
func (f *Fake) IsHeld(ctx context.Context, lease *lock.Lease) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(ctx); err != nil {
		return false, err
	}
	return f.live(lease), nil
}

// IsLocked implements lock.Locker.
func (f *Fake) IsLocked(ctx context.Context, key lock.Key) (bool, error) {
	if key == (lock.Key{}) {
		return false, lock.ErrInvalidKey
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(ctx); err != nil {
		return false, err
	}
	return f.key(key).fence != 0, nil
}

// Waiting returns how many wait for the lock.
func (f *Fake) Waiting(ctx context.Context, key lock.Key) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.key(key).line), f.ready(ctx)
}

// ready returns the error of a call on a broken Fake or an ended ctx. The caller of ready, key, live, grant
// and next has mu.
func (f *Fake) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return f.err
}

func (f *Fake) key(key lock.Key) *state {
	s := f.keys[key]
	if s == nil {
		s = &state{}
		f.keys[key] = s
	}
	return s
}

func (f *Fake) live(lease *lock.Lease) bool {
	if lease == nil || lease.Fence == 0 {
		return false
	}
	s := f.key(lease.Key)
	return s.fence == lease.Fence && s.proof == lease.Proof()
}

func (f *Fake) grant(key lock.Key, s *state, lease time.Duration) *lock.Lease {
	f.fence++
	fence := f.fence
	s.fence, s.proof, s.until = fence, rand.Text(), time.Now().Add(lease)
	s.timer = time.AfterFunc(lease, func() { f.runOut(key, fence) })
	return lock.NewLease(key, fence, s.until, s.proof)
}

// next ends the live lease and grants the lock to the next in line.
func (f *Fake) next(key lock.Key, s *state) {
	if s.fence == 0 {
		return
	}
	s.timer.Stop()
	s.fence = 0
	if len(s.line) > 0 {
		w := s.line[0]
		s.line = s.line[1:]
		w.granted <- f.grant(key, s, w.lease)
	}
}

func (f *Fake) runOut(key lock.Key, fence int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.key(key); s.fence == fence && !time.Now().Before(s.until) { // else it was extended meanwhile
		f.next(key, s)
	}
}
