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

func TestContextEndsEveryCallWhileRedisDoesNotAnswer(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	l, key := newLocker(t, client(t, rdb.Addr())), newKey(t, "order", "frozen")
	held, err := l.TryLock(within(t), key, long, long)
	require.NoError(t, err)
	rdb.Pause()
	t.Cleanup(rdb.Resume)
	calls := map[string]func(context.Context) error{
		"TryLock":     func(ctx context.Context) error { _, err := l.TryLock(ctx, key, long, long); return err },
		"TryLock now": func(ctx context.Context) error { _, err := l.TryLock(ctx, key, 0, long); return err },
		"Unlock":      func(ctx context.Context) error { return l.Unlock(ctx, held) },
		"Lock":        func(ctx context.Context) error { _, err := l.Lock(ctx, key, long); return err },
		"Extend":      func(ctx context.Context) error { return l.Extend(ctx, held, long) },
		"Resume":      func(ctx context.Context) error { _, err := l.Resume(ctx, held.Token()); return err },
		"IsHeld":      func(ctx context.Context) error { _, err := l.IsHeld(ctx, held); return err },
		"IsLocked":    func(ctx context.Context) error { _, err := l.IsLocked(ctx, key); return err },
		"first TryLock": func(ctx context.Context) error {
			fresh := newLocker(t, client(t, rdb.Addr()))
			_, err := fresh.TryLock(ctx, key, long, long)
			return err
		},
	}
	ends := func(name string) {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		err := calls[name](ctx)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NotErrorIs(t, err, lock.ErrStore, name)
	}
	for name := range calls {
		ends(name)
	}
	closed := make(chan error)
	go func() { closed <- l.Close() }() // it waits for the work of those calls
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.TryLock(ctx, key, 0, long)
		return errors.Is(err, lock.ErrClosed)
	}, soon, time.Millisecond)
	for _, name := range []string{"Unlock", "Extend", "Resume", "IsHeld", "IsLocked"} {
		ends(name)
	}
	rdb.Resume()
	require.NoError(t, <-closed)
}
