package lock

import (
	"context"
	"errors"
	"time"
)

// unlockWithin bounds the unlock of Do, which ctx does not end.
const unlockWithin = 5 * time.Second

// Do runs fn while it has the lock, and always unlocks: after a return, an error, a panic (which goes
// on) and a cancelled ctx.
//
// fn's context is cancelled when the lease is over, judged by this process's monotonic clock from
// before the lock was asked for: earlier than anybody else can get the lock, never later. Its
// context.Cause is then ErrNotHeld. fn is not stopped by force: what must not happen twice hands the
// fence to what it writes to.
//
// Do returns TryLock's error without running fn, else fn's. Where the lease was over before fn
// ended, or had been ended by somebody else, ErrNotHeld is joined to it, also to nil: another may
// have had the lock meanwhile. Where Redis could not be reached to unlock in time, fn's error stands
// alone, since fn had the lock as long as it ran; the lock is then free at the end of its lease.
func Do(ctx context.Context, locker Locker, key Key, wait, lease time.Duration, fn func(ctx context.Context, fence int64) error) (err error) {
	held, err := locker.TryLock(ctx, key, wait, lease)
	if err != nil {
		return err
	}
	work, cancel := context.WithDeadlineCause(ctx, held.ExpiresAt, ErrNotHeld)
	defer cancel()
	defer func() {
		late := !time.Now().Before(held.ExpiresAt)
		unlocking, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWithin)
		defer cancel()
		if unlocked := locker.Unlock(unlocking, held); late || errors.Is(unlocked, ErrNotHeld) {
			err = errors.Join(err, ErrNotHeld)
		}
	}()
	return fn(work, held.Fence)
}
