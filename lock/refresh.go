package lock

import (
	"context"
	"fmt"
	"time"
)

// Refresh makes the lease end a time from now, where it would end before. Other libraries call this Refresh,
// or extending by an expiry. A lease that ends later, or has just begun, stays as it is. Its errors are
// Extend's, with ErrNotHeld also if the lease was over before, or is nil.
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
