package lock_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

var errMine = errors.New("mine")

func TestDoReturnsTheWorksError(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	require.ErrorIs(t, lock.Do(t.Context(), f, key, 0, long, func(context.Context, int64) error {
		return errMine
	}), errMine)
	require.NoError(t, lock.Do(t.Context(), f, key, 0, long, func(context.Context, int64) error { return nil }))
}

func TestDoDoesNotRunWithoutTheLock(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	_, err := f.TryLock(t.Context(), key, 0, long)
	require.NoError(t, err)
	err = lock.Do(t.Context(), f, key, 0, long, func(context.Context, int64) error { panic("it ran") })
	require.ErrorIs(t, err, lock.ErrNotAcquired)
}

func TestDoUnlocksAfterGoexitToo(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = lock.Do(t.Context(), f, key, 0, long, func(context.Context, int64) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	locked, err := f.IsLocked(t.Context(), key)
	require.NoError(t, err)
	require.False(t, locked)
}

func TestDoHandsOutTheFence(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	last := int64(0)
	for range 3 {
		require.NoError(t, lock.Do(t.Context(), f, key, 0, long, func(_ context.Context, fence int64) error {
			require.Greater(t, fence, last)
			last = fence
			return nil
		}))
	}
}

func TestDoReturnsErrNotHeldWhenItsLeaseWasEndedMeanwhile(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	err := lock.Do(t.Context(), f, key, 0, long, func(ctx context.Context, _ int64) error {
		f.Expire(key)
		require.NoError(t, ctx.Err())
		return errMine
	})
	require.ErrorIs(t, err, errMine)
	require.ErrorIs(t, err, lock.ErrNotHeld)
}
