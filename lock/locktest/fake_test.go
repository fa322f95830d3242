package locktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakeKeepsTheRules(t *testing.T) {
	locktest.Conformance(t, func(*testing.T) lock.Locker { return locktest.NewFake() })
}

func TestBrokenFakeFailsEveryCallUntilRepaired(t *testing.T) {
	ctx := t.Context()
	f := locktest.NewFake()
	key, err := lock.NewKey("order", "123")
	require.NoError(t, err)
	held, err := f.TryLock(ctx, key, 0, time.Minute)
	require.NoError(t, err)
	f.Break()
	_, err = f.TryLock(ctx, key, 0, time.Minute)
	require.ErrorIs(t, err, lock.ErrStore)
	require.ErrorIs(t, f.Unlock(ctx, held), lock.ErrStore)
	f.Repair()
	require.NoError(t, f.Unlock(ctx, held))
}

func TestExpireIsALeaseThatRanOut(t *testing.T) {
	f := locktest.NewFake()
	key, err := lock.NewKey("order", "123")
	require.NoError(t, err)
	err = lock.Do(t.Context(), f, key, 0, time.Minute, func(context.Context, int64) error {
		f.Expire(key)
		return nil
	})
	require.ErrorIs(t, err, lock.ErrNotHeld)
}

func TestFakeLeaseRunsOutByTheBubblesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.NewFake()
		key, err := lock.NewKey("order", "123")
		require.NoError(t, err)
		begun := time.Now()
		_, err = f.TryLock(t.Context(), key, 0, time.Hour)
		require.NoError(t, err)
		second, err := f.TryLock(t.Context(), key, 2*time.Hour, time.Minute)
		require.NoError(t, err)
		require.Equal(t, time.Hour, time.Since(begun))
		require.NoError(t, f.Unlock(t.Context(), second))
	})
}
