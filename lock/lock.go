package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Locker's errors, to be compared by errors.Is. If a context ends first, the error wraps its Err.
var (
	ErrNotAcquired  = errors.New("lock not acquired: the wait ran out")
	ErrNotHeld      = errors.New("lock not held: the lease is over")
	ErrInvalidKey   = errors.New("lock key is not valid")
	ErrInvalidLease = errors.New("lease is shorter than a millisecond")
	ErrClosed       = errors.New("locker is closed")

	// ErrStore wraps every failure to reach the store or to understand its answer. The call may have taken
	// effect or not. The Locker gives back a lock that TryLock or Lock may have taken as soon as it can.
	ErrStore = errors.New("lock store failed")
	// ErrUnlock is in the error of Do and DoValue where the lock could not be given back. It stands beside
	// its cause; the work was done, and the lock is free at the end of its lease.
	ErrUnlock = errors.New("lock not unlocked")
)

// Locker is the port that application code depends on. It knows no business rule and no database. Package
// lockredis has the real one, package locktest one for unit tests. It is safe for many goroutines.
type Locker interface {
	// TryLock takes the lock for the length of lease, at the end of which it is free by itself. While another
	// caller has the lock, it waits in line for up to wait, first come first served; with no wait it does not
	// get in line. It returns ErrNotAcquired, and holds nothing, when the wait runs out.
	TryLock(ctx context.Context, key Key, wait, lease time.Duration) (*Lease, error)
	// Lock is TryLock that waits in line until ctx ends.
	Lock(ctx context.Context, key Key, lease time.Duration) (*Lease, error)
	// Unlock ends the lease, and the next in line has the lock in the same step. It returns ErrNotHeld where
	// the lease was over before: a present holder keeps the lock. Where ctx has ended it does nothing, and the
	// lock stays taken until its lease ends: a deferred Unlock needs context.WithoutCancel(ctx), or use Do.
	Unlock(ctx context.Context, lease *Lease) error
	// Extend adds a time to the lease's end, and writes the new end into the lease. It returns ErrNotHeld
	// where the lease was over before. After any other error the end may have moved or not: Resume returns
	// it.
	Extend(ctx context.Context, lease *Lease, by time.Duration) error
	// IsHeld reports whether this very lease is still live.
	IsHeld(ctx context.Context, lease *Lease) (bool, error)
	// IsLocked reports whether any caller has the lock.
	IsLocked(ctx context.Context, key Key) (bool, error)
	// Resume returns the live lease of a Lease.Token, in this or any other process. It returns ErrNotHeld
	// where there is none: the lease is over, or the text is no token.
	Resume(ctx context.Context, token string) (*Lease, error)
}

// Validate is for implementations of Locker: it returns the error of an invalid key or lease.
func Validate(key Key, lease time.Duration) error {
	if key == (Key{}) {
		return fmt.Errorf("%w: it is empty: use NewKey", ErrInvalidKey)
	}
	if lease < time.Millisecond {
		return ErrInvalidLease
	}
	return nil
}
