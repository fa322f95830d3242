package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a Locker answers with, to be compared by errors.Is. Where a context ends first, the error wraps
// its Err.
var (
	ErrNotAcquired  = errors.New("lock not acquired: the wait ran out")
	ErrNotHeld      = errors.New("lock not held: the lease is over")
	ErrInvalidKey   = errors.New("lock key is not valid")
	ErrInvalidLease = errors.New("lease is shorter than a millisecond")
	ErrClosed       = errors.New("locker is closed")

	// ErrStore wraps every failure to reach the store or to understand its answer: whether the call took
	// effect is not known. What TryLock or Lock may have taken is given back as soon as that can be.
	ErrStore = errors.New("lock store failed")
	// ErrUnlock is in the error of Do and DoValue, beside its cause, where the work was done and the lock could not
	// be given back: it is free at the end of its lease.
	ErrUnlock = errors.New("lock not unlocked")
)

// Locker is the port: what application code asks for. It knows no business rule and no database.
// Package lockredis has the real one, package locktest one for unit tests. It is for many goroutines.
type Locker interface {
	// TryLock takes the lock for as long as lease says, at the end of which it ends by itself. Where
	// somebody has the lock, it waits in line for up to wait, first come first served; with no wait
	// it does not get in line. ErrNotAcquired says that the wait ran out: nothing is held then.
	TryLock(ctx context.Context, key Key, wait, lease time.Duration) (*Lease, error)
	// Lock is TryLock that waits in line until ctx ends.
	Lock(ctx context.Context, key Key, lease time.Duration) (*Lease, error)
	// Unlock ends the lease, and the next in line has the lock in the same step. ErrNotHeld says that
	// the lease was over before: whoever has the lock now keeps it.
	Unlock(ctx context.Context, lease *Lease) error
	// Extend puts the lease's end off by so much, and writes the new end into the lease. ErrNotHeld says that
	// the lease was over before. After any other error the end may have been put off or not: Resume tells.
	Extend(ctx context.Context, lease *Lease, by time.Duration) error
	// IsHeld tells whether this very lease is still live.
	IsHeld(ctx context.Context, lease *Lease) (bool, error)
	// IsLocked tells whether anybody has the lock.
	IsLocked(ctx context.Context, key Key) (bool, error)
	// Resume is the live lease that a Lease.Token speaks of, in this or any other process. ErrNotHeld says that
	// there is none: the lease is over, or the text is no token.
	Resume(ctx context.Context, token string) (*Lease, error)
}

// Validate is for those who make a Locker: the error of a key and a lease that none may take.
func Validate(key Key, lease time.Duration) error {
	if key == (Key{}) {
		return fmt.Errorf("%w: it is empty: use NewKey", ErrInvalidKey)
	}
	if lease < time.Millisecond {
		return ErrInvalidLease
	}
	return nil
}
