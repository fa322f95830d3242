package lock

import (
	"context"
	"fmt"
	"time"
)

// Refresh makes the lease end fromNow from now, unless it ends later or less than a millisecond sooner. Other
// libraries call this Refresh, or extending by an expiry. Errors: ErrNotHeld if the lease is nil or was over
// before, ErrInvalidKey, ErrInvalidLease for a fromNow under a millisecond, and those of Extend and IsHeld.
func Refresh(ctx context.Context, locker Locker, lease *Lease, fromNow time.Duration) error {
	if lease == nil {
		return fmt.Errorf("%w: there is none: it is nil", ErrNotHeld)
	}
	if err := Validate(lease.Key, fromNow); err != nil {
		return err
	}
	by := fromNow - time.Until(lease.ExpiresAt)
	if by >= time.Millisecond {
		return locker.Extend(ctx, lease, by)
	}
	held, err := locker.IsHeld(ctx, lease)
	if err == nil && !held {
		err = ErrNotHeld
	}
	return err
}
