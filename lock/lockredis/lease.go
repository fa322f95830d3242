package lockredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

// Unlock implements lock.Locker. Where ctx ends before Redis answers, the lock is unlocked all the same if
// the request gets there.
func (l *Locker) Unlock(ctx context.Context, lease *lock.Lease) (err error) {
	ctx, over := l.watch.call(ctx, "Unlock", keyOf(lease))
	defer func() { over(err) }()
	if !mine(lease) {
		return lock.ErrNotHeld
	}
	id := roomOf(lease.Key)
	st, err := call(ctx, l, func() (room.Standing, error) {
		return l.engine.Leave(ctx, id, room.LeaveRequest{Session: lease.Proof(), Outcome: room.Completed,
			Fence: lease.Fence})
	})
	if err == nil {
		l.note(id, st.View)
		l.watch.held(lease, st.Now)
	}
	return stored(err)
}

// Extend implements lock.Locker. A lease may be extended any number of times, to any length in all.
func (l *Locker) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) (err error) {
	ctx, over := l.watch.call(ctx, "Extend", keyOf(lease))
	defer func() { over(err) }()
	if by < time.Millisecond {
		return lock.ErrInvalidLease
	}
	if !mine(lease) {
		return lock.ErrNotHeld
	}
	sent := time.Now()
	st, err := call(ctx, l, func() (room.Standing, error) {
		return l.engine.Prolong(ctx, roomOf(lease.Key), "", lease.Proof(), lease.Fence, by)
	})
	if err == nil && st.Lease == nil {
		return lock.ErrNotHeld // the answer to it was lost, and took longer than the lease
	}
	if err == nil {
		lease.ExpiresAt = reckon(sent, st.View)
	}
	return stored(err)
}

// IsHeld implements lock.Locker.
func (l *Locker) IsHeld(ctx context.Context, lease *lock.Lease) (is bool, err error) {
	ctx, over := l.watch.call(ctx, "IsHeld", keyOf(lease))
	defer func() { over(err) }()
	if !mine(lease) {
		return false, nil
	}
	_, _, is, err = l.find(ctx, lease)
	return is, err
}

// Resume implements lock.Locker.
func (l *Locker) Resume(ctx context.Context, token string) (lease *lock.Lease, err error) {
	lease, err = lock.ParseToken(token)
	ctx, over := l.watch.call(ctx, "Resume", keyOf(lease))
	defer func() { over(err) }()
	if err != nil {
		return nil, err
	}
	sent, view, held, err := l.find(ctx, lease)
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, lock.ErrNotHeld
	}
	lease.ExpiresAt = reckon(sent, view)
	return lease, nil
}

// find returns the state of a live lease's room, and when its request was sent.
func (l *Locker) find(ctx context.Context, lease *lock.Lease) (sent time.Time, v room.View, held bool,
	err error) {
	sent = time.Now()
	st, err := call(ctx, l, func() (room.Standing, error) {
		return l.engine.Stand(ctx, roomOf(lease.Key), lease.Proof())
	})
	held = err == nil && st.Status == room.Locked && st.Fence == lease.Fence && st.Lease != nil
	return sent, st.View, held, stored(err)
}

// reckon returns when the lease in a reply is over, by this process's clock. The result is early rather than
// late: Redis's time in the reply is later than `sent`, and one more millisecond covers that clock's
// precision.
func reckon(sent time.Time, v room.View) time.Time {
	return sent.Add(time.Duration(v.Lease.ExpiresAt-v.Now-1) * time.Millisecond)
}

// IsLocked implements lock.Locker.
func (l *Locker) IsLocked(ctx context.Context, key lock.Key) (is bool, err error) {
	ctx, over := l.watch.call(ctx, "IsLocked", key)
	defer func() { over(err) }()
	v, err := l.look(ctx, key)
	return v.Lease != nil, err
}

// Waiting returns how many wait for the lock, in all processes.
func (l *Locker) Waiting(ctx context.Context, key lock.Key) (int, error) {
	v, err := l.look(ctx, key)
	return v.Waiting, err
}

func (l *Locker) look(ctx context.Context, key lock.Key) (room.View, error) {
	if key == (lock.Key{}) {
		return room.View{}, lock.ErrInvalidKey
	}
	v, err := call(ctx, l, func() (room.View, error) {
		v, _, err := l.engine.Look(ctx, roomOf(key))
		return v, err
	})
	return v, stored(err)
}

// mine reports whether a lease has a proof, as every lease that a Locker made has.
func mine(lease *lock.Lease) bool { return lease != nil && lease.Proof() != "" }

func keyOf(lease *lock.Lease) lock.Key {
	if lease == nil {
		return lock.Key{}
	}
	return lease.Key
}

// stored maps the engine's errors to the port's.
func stored(err error) error {
	switch {
	case errors.Is(err, room.ErrNoPlace), errors.Is(err, room.ErrStaleFence):
		return lock.ErrNotHeld
	case errors.Is(err, room.ErrLeaseTooLong):
		return errors.New("lock: the lease would be longer than 292 years in all")
	case errors.Is(err, room.ErrStore):
		return fmt.Errorf("%w: %w", lock.ErrStore, err)
	}
	return err
}
