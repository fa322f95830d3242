package lockredis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

// leftOf returns each key in Redis with its TTL. A key that does not expire fails the test.
func leftOf(t *testing.T, rdb redis.UniversalClient) map[string]time.Duration {
	t.Helper()
	left := make(map[string]time.Duration)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		left[key], err = rdb.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		require.Positive(t, left[key], "%s is kept for ever", key)
	}
	return left
}

func TestFiveSecondsAfterTheLastUnlockNothingIsLeftButTheHighestFence(t *testing.T) {
	t.Parallel()
	rdb := redistest.Shared(t)
	l := lockredis.New(rdb, lockredis.Config{Heartbeat: 100 * time.Millisecond})
	defer func() { require.NoError(t, l.Close()) }()
	key, err := lock.NewKey("stock", "item", "456")
	require.NoError(t, err)
	holder, err := l.TryLock(t.Context(), key, 0, time.Minute)
	require.NoError(t, err)
	next := make(chan *lock.Lease)
	go func() {
		waited, err := l.TryLock(t.Context(), key, time.Minute, time.Minute)
		if err != nil {
			t.Error(err)
		}
		next <- waited
	}()
	waiting(t, l, key, 1)
	for name, ttl := range leftOf(t, rdb) { // should all processes die now
		require.LessOrEqual(t, ttl, 24*time.Hour+2*time.Minute, name)
	}
	require.NoError(t, l.Unlock(t.Context(), holder))
	last := <-next
	require.Greater(t, last.Fence, holder.Fence)
	require.NoError(t, l.Unlock(t.Context(), last))

	const fence = "{lock:stock:item:456}:fence"
	for name, ttl := range leftOf(t, rdb) {
		if name != fence {
			require.Less(t, ttl, 5*time.Second, name)
		}
	}
	require.LessOrEqual(t, leftOf(t, rdb)[fence], 24*time.Hour)
	require.Equal(t, fmt.Sprint(last.Fence), rdb.Get(t.Context(), fence).Val())
}

func TestFenceGoesOnWhereNothingElseIsLeftOfALock(t *testing.T) {
	t.Parallel()
	clock := redistest.NewClock(t)
	rdb := redistest.StartWith(t, redistest.Config{Clock: clock}).Client()
	l := lockredis.New(rdb, lockredis.Config{})
	defer func() { require.NoError(t, l.Close()) }()
	key, err := lock.NewKey("order", "7")
	require.NoError(t, err)
	var before int64
	for range 3 {
		held, err := l.TryLock(t.Context(), key, 0, time.Minute)
		require.NoError(t, err)
		require.Greater(t, held.Fence, before)
		before = held.Fence
		require.NoError(t, l.Unlock(t.Context(), held))
		clock.Set(-time.Hour)
	}
}

// The room of the lock begins with its first waiter and ends with its last session, also between two leases.
func TestALockWithoutWaitersIsItsKeyAndItsFence(t *testing.T) {
	t.Parallel()
	rdb := redistest.Shared(t)
	l := newLocker(t, rdb)
	key, err := lock.NewKey("stock", "item", "11")
	require.NoError(t, err)
	for range 2 {
		held, err := l.TryLock(t.Context(), key, 0, time.Minute)
		require.NoError(t, err)
		_, err = l.TryLock(t.Context(), key, 0, time.Minute)
		require.ErrorIs(t, err, lock.ErrNotAcquired)
		is, err := l.IsHeld(t.Context(), held)
		require.NoError(t, err)
		require.True(t, is)
		left := slices.DeleteFunc(rdb.Keys(t.Context(), "{lock:stock:item:11}:*").Val(),
			func(name string) bool { return strings.Contains(name, ":request:") }) // for seconds
		require.ElementsMatch(t, []string{"{lock:stock:item:11}:lock", "{lock:stock:item:11}:fence"}, left)
		place := queue(t.Context(), t, l, key, 1)
		require.Contains(t, leftOf(t, rdb), "{lock:stock:item:11}:state")
		require.NoError(t, l.Unlock(t.Context(), held))
		next := <-place
		require.NoError(t, next.err)
		require.Greater(t, next.held.Fence, held.Fence)
		require.NoError(t, l.Unlock(t.Context(), next.held))
		require.NotContains(t, leftOf(t, rdb), "{lock:stock:item:11}:state")
	}
}

func TestKeysOfALockWhoseProcessesAllDiedExpire(t *testing.T) {
	t.Parallel()
	rdb := redistest.Shared(t)
	l := lockredis.New(rdb, lockredis.Config{Heartbeat: time.Hour}) // a process that sends nothing more
	defer func() { require.NoError(t, l.Close()) }()
	key, err := lock.NewKey("stock", "item", "9")
	require.NoError(t, err)
	_, err = l.TryLock(t.Context(), key, 0, time.Minute)
	require.NoError(t, err)
	queue(t.Context(), t, l, key, 1)
	const seen = "{lock:stock:item:9}:seen"
	waiter, err := rdb.ZRange(t.Context(), seen, 0, 0).Result()
	require.NoError(t, err)
	require.NoError(t,
		rdb.ZAdd(t.Context(), seen, redis.Z{Score: float64(time.Now().Add(-time.Second).UnixMilli()),
			Member: waiter[0]}).Err())
	_, err = l.TryLock(t.Context(), key, 0, time.Minute) // finds it away
	require.ErrorIs(t, err, lock.ErrNotAcquired)
	left := leftOf(t, rdb)
	require.Contains(t, left, "{lock:stock:item:9}:away")
	for name, ttl := range left {
		require.LessOrEqual(t, ttl, 24*time.Hour+2*time.Minute, name)
	}
}

func TestALineThatWasEmptyHasAnEndAgainFromItsFirstWaiterOn(t *testing.T) {
	t.Parallel()
	rdb := redistest.Shared(t)
	l := lockredis.New(rdb, lockredis.Config{Heartbeat: time.Hour})
	defer func() { require.NoError(t, l.Close()) }()
	key, err := lock.NewKey("stock", "item", "10")
	require.NoError(t, err)
	_, err = l.TryLock(t.Context(), key, 0, time.Minute)
	require.NoError(t, err)
	_, err = l.TryLock(t.Context(), key, 20*time.Millisecond, time.Minute) // waits, and gives up
	require.ErrorIs(t, err, lock.ErrNotAcquired)
	require.NotContains(t, leftOf(t, rdb), "{lock:stock:item:10}:queue")

	queue(t.Context(), t, l, key, 1)
	left := leftOf(t, rdb)
	require.Contains(t, left, "{lock:stock:item:10}:queue")
	require.Contains(t, left, "{lock:stock:item:10}:seen")
}
