package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

func TestRefreshHasALeaseEndATimeFromNowAlsoRightAfterItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locker := locktest.NewFake()
		key, err := lock.NewKey("order", "123")
		require.NoError(t, err)
		lease, err := locker.TryLock(t.Context(), key, 0, 30*time.Second)
		require.NoError(t, err)
		begun := lease.ExpiresAt
		require.NoError(t, lock.Refresh(t.Context(), locker, lease, 30*time.Second), "right after locking")
		require.Equal(t, begun, lease.ExpiresAt)
		time.Sleep(10 * time.Second)
		require.NoError(t, lock.Refresh(t.Context(), locker, lease, 30*time.Second))
		require.Equal(t, begun.Add(10*time.Second), lease.ExpiresAt)
		require.NoError(t, lock.Refresh(t.Context(), locker, lease, 5*time.Second), "it ends later already")
		require.Equal(t, begun.Add(10*time.Second), lease.ExpiresAt)
		require.ErrorIs(t, lock.Refresh(t.Context(), locker, nil, 5*time.Second), lock.ErrNotHeld)
		require.ErrorIs(t, lock.Refresh(t.Context(), locker, lease, 0), lock.ErrInvalidLease)
		require.NoError(t, locker.Unlock(t.Context(), lease))
		for _, fromNow := range []time.Duration{time.Second, time.Minute} {
			require.ErrorIs(t, lock.Refresh(t.Context(), locker, lease, fromNow), lock.ErrNotHeld)
		}
	})
}
