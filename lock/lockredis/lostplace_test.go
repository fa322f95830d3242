package lockredis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestWaiterWhosePlaceIsGoneGetsInLineAgainThoughAnotherHasItsTicketByNow(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "lost")
	_, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	lost := queue(ctx, t, l, key, 1)
	seen := func() float64 {
		all, err := rdb.Client().ZRangeWithScores(ctx, "{lock:order:lost}:seen", 0, 0).Result()
		if err != nil || len(all) == 0 {
			return 0
		}
		return all[0].Score
	}
	joined := seen()
	// the next heartbeat, which finds that the place is lost, comes only after a while
	require.Eventually(t, func() bool { return seen() > joined }, soon, time.Millisecond)
	require.NoError(t, rdb.Client().FlushAll(ctx).Err()) // a lock with no data left: tickets begin anew
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	line := make(chan taken, 1)
	go func() { // before the next heartbeat, mostly
		next, err := l.TryLock(ctx, key, long, long)
		line <- taken{next, err}
	}()
	waiting(t, l, key, 2)
	for range 2 {
		require.NoError(t, l.Unlock(ctx, held))
		var next taken
		select {
		case next = <-line:
		case next = <-lost:
		}
		require.NoError(t, next.err)
		held = next.held
	}
}
