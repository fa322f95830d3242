package lockredis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
)

var errMine = errors.New("mine")

func TestDoWhileRedisGoesAway(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		lease time.Duration
		opts  []lock.Option
		work  func(context.Context) error
		hold  func(*testing.T, error)
	}{
		"work that ends within its lease stands, and a lock that is not free is an error": {
			lease: long,
			work:  func(context.Context) error { return nil },
			hold: func(t *testing.T, err error) {
				require.ErrorIs(t, err, lock.ErrUnlock)
				require.ErrorIs(t, err, lock.ErrStore)
				require.NotErrorIs(t, err, lock.ErrNotHeld)
			},
		},
		"work that goes on is cancelled at the end of its lease": {
			lease: 200 * time.Millisecond,
			work:  func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
			hold:  func(t *testing.T, err error) { require.ErrorIs(t, err, lock.ErrNotHeld) },
		},
	}
	kept := cases["work that goes on is cancelled at the end of its lease"]
	kept.opts = []lock.Option{lock.KeepAlive}
	cases["work whose lease can not be renewed is cancelled at its end"] = kept
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redistest.Start(t)
			l := newLocker(t, client(t, rdb.Addr()))
			err := lock.ErrNotAcquired // where Redis takes longer than the lease to answer
			for lease := c.lease; errors.Is(err, lock.ErrNotAcquired) && lease <= long; lease *= 2 {
				err = lock.Do(within(t), l, newKey(t, "order", "1"), soon, lease,
					func(ctx context.Context, _ int64) error {
						rdb.Kill()
						return c.work(ctx)
					}, c.opts...)
			}
			c.hold(t, err)
		})
	}
}

func TestWaitThatRunsOutWhileRedisIsAwayReturnsBothErrors(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	l, key := newLocker(t, client(t, rdb.Addr())), newKey(t, "order", "1")
	_, err := l.TryLock(within(t), key, 0, long)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := l.TryLock(t.Context(), key, 8*time.Second, long) // for longer than it takes to kill Redis
		result <- err
	}()
	inLine(t, l, key, 1)
	rdb.Kill()
	err = <-result
	require.ErrorIs(t, err, lock.ErrNotAcquired)
	require.ErrorIs(t, err, lock.ErrStore)
}
