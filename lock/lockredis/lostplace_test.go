package lockredis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
)

func TestWaiterWhosePlaceIsGoneGetsInLineAgainThoughAnotherHasItsTicketByNow(t *testing.T) {
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "lost")
	_, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	lost := queue(ctx, t, l, key, 1)
	require.NoError(t, rdb.Client().FlushAll(ctx).Err()) // as where nothing is left of a lock: tickets begin anew
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	line := make(chan taken, 1)
	go func() { // before the next heartbeat, mostly
		next, err := l.TryLock(ctx, key, long, long)
		line <- taken{next, err}
	}()
	waiting(t, l, key, 2)
	for _, place := range []<-chan taken{line, lost} {
		require.NoError(t, l.Unlock(ctx, held))
		next := <-place
		require.NoError(t, next.err)
		held = next.held
	}
}
