package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// What a Locker answers with, to be compared by errors.Is. Where a context ends first, the error wraps
// its Err.
var (
	ErrNotAcquired  = errors.New("lock not acquired: the wait ran out")
	ErrNotHeld      = errors.New("lock not held: the lease is over")
	ErrInvalidKey   = errors.New("lock key is not valid")
	ErrInvalidLease = errors.New("lease is shorter than a millisecond")
	ErrClosed       = errors.New("locker is closed")
)

// ErrStore wraps every failure to reach Redis or to understand its answer: whether the call took
// effect is not known. What TryLock may have taken it gives back as soon as it can.
var ErrStore = room.ErrStore

// Locker is the port: what application code asks for. It knows no business rule and no database. New
// makes the real one; package locktest has one for unit tests.
type Locker interface {
	// TryLock takes the lock for as long as lease says, at the end of which it ends by itself. Where
	// somebody has the lock, it waits in line for up to wait, first come first served; with no wait
	// it does not get in line. ErrNotAcquired says that the wait ran out: nothing is held then.
	TryLock(ctx context.Context, key Key, wait, lease time.Duration) (*Lease, error)
	// Unlock ends the lease, and the next in line has the lock in the same step. ErrNotHeld says that
	// the lease was over before: whoever has the lock now keeps it.
	Unlock(ctx context.Context, lease *Lease) error
	// IsHeld tells whether this very lease is still live.
	IsHeld(ctx context.Context, lease *Lease) (bool, error)
	// IsLocked tells whether anybody has the lock.
	IsLocked(ctx context.Context, key Key) (bool, error)
}

// Lease is one holding of a lock.
type Lease struct {
	Key   Key
	Fence int64 // grows with every lease of the key, for ever: hand it to what you write to
	// ExpiresAt is when the lease is over, by this process's monotonic clock and reckoned early: from
	// before the request that got it was sent.
	ExpiresAt time.Time

	session string // proves whose lease it is; never shown
}

// String shows the key and the fence.
func (l Lease) String() string { return fmt.Sprintf("%s#%d", l.Key, l.Fence) }

func check(key Key, lease time.Duration) error {
	if key == (Key{}) {
		return fmt.Errorf("%w: it is empty: use NewKey", ErrInvalidKey)
	}
	if lease < time.Millisecond {
		return ErrInvalidLease
	}
	return nil
}
