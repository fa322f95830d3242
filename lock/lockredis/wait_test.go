package lockredis_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

type taken struct {
	held *lock.Lease
	err  error
}

// queue starts a TryLock and returns once n callers wait.
func queue(ctx context.Context, t testing.TB, l *lockredis.Locker, key lock.Key, n int) <-chan taken {
	t.Helper()
	result := make(chan taken, 1)
	go func() {
		held, err := l.TryLock(ctx, key, long, long)
		result <- taken{held, err}
	}()
	waiting(t, l, key, n)
	return result
}

func TestSixtyFourContendersOfTwoProcessesAreServedInTheOrderOfAsking(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	key := newKey(t, "order", "fifo")
	two := []*lockredis.Locker{newLocker(t, rdb.Client()), newLocker(t, client(t, rdb.Addr()))}
	held, err := two[0].TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	var line []<-chan taken
	for i := range 64 {
		line = append(line, queue(ctx, t, two[i%2], key, i+1))
	}
	for i, place := range line {
		require.NoError(t, two[(i+1)%2].Unlock(ctx, held), "any locker may unlock a lease that it is handed")
		next := <-place
		require.NoError(t, next.err, i)
		require.Greater(t, next.held.Fence, held.Fence)
		held = next.held
	}
	require.NoError(t, two[0].Unlock(ctx, held))
}

func TestLockIsAStringInRedisThatNamesItsFence(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "stock", "item", "456")
	held, err := l.TryLock(within(t), key, 0, long)
	require.NoError(t, err)
	require.Equal(t, held.Fence, fenceOf(t, rdb, key))
	require.Equal(t, fmt.Sprintf("stock:item:456#%d", held.Fence), fmt.Sprintf("%+v", held),
		"the session in it is a credential")
}

func TestWaitersOfAProcessShareOneSubscription(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l := newLocker(t, rdb.Client())
	for i := range 8 {
		key := newKey(t, "order", fmt.Sprint(i))
		_, err := l.TryLock(ctx, key, 0, long)
		require.NoError(t, err)
		queue(ctx, t, l, key, 1)
	}
	channels, err := rdb.Client().PubSubChannels(ctx, "*").Result()
	require.NoError(t, err)
	require.Len(t, channels, 1)
}

func TestNothingIsSentBeforeTheFirstUse(t *testing.T) {
	t.Parallel()
	l := lockredis.New(client(t, "127.0.0.1:1"), lockredis.Config{})
	require.NoError(t, l.Close())
}

func TestCloseEndsWaitsAndUnlockStillWorks(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, other, key := newLocker(t, rdb.Client()), newLocker(t, rdb.Client()), newKey(t, "order", "close")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	place := queue(ctx, t, l, key, 1)
	require.NoError(t, l.Close())
	require.ErrorIs(t, (<-place).err, lock.ErrClosed)
	waiting(t, other, key, 0)
	_, err = l.TryLock(ctx, key, long, long)
	require.ErrorIs(t, err, lock.ErrClosed)
	_, err = l.Lock(ctx, key, long)
	require.ErrorIs(t, err, lock.ErrClosed)
	held, err = l.Resume(ctx, held.Token())
	require.NoError(t, err)
	require.NoError(t, l.Extend(ctx, held, long))
	require.NoError(t, l.Unlock(ctx, held))
}

func TestLostReplyChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	proxy := redistest.Start(t).Proxy()
	l, key := newLocker(t, proxy.Client()), newKey(t, "order", "retry")
	warm, err := l.TryLock(ctx, key, long, long)
	require.NoError(t, err)
	require.NoError(t, l.Extend(ctx, warm, long))
	require.NoError(t, l.Unlock(ctx, warm))
	losing := func(call func()) {
		t.Helper()
		lost := proxy.DropNextReply(redistest.Command("FCALL"))
		call()
		<-lost
	}

	var held *lock.Lease
	losing(func() { held, err = l.Lock(ctx, key, long) })
	require.NoError(t, err)
	losing(func() { err = l.Extend(ctx, held, long) })
	require.NoError(t, err)
	require.InDelta(t, 2*long.Seconds(), time.Until(held.ExpiresAt).Seconds(), soon.Seconds(),
		"it was extended once")
	var again *lock.Lease
	losing(func() { again, err = l.Resume(ctx, held.Token()) })
	require.NoError(t, err)
	require.InDelta(t, 2*long.Seconds(), time.Until(again.ExpiresAt).Seconds(), soon.Seconds(),
		"and so Redis has it")
	losing(func() { err = l.Unlock(ctx, again) })
	require.NoError(t, err, "the first of the two unlocked it")
	losing(func() { held, err = l.TryLock(ctx, key, long, long) })
	require.NoError(t, err)
	require.NoError(t, l.Unlock(ctx, held))
	locked, err := l.IsLocked(ctx, key)
	require.NoError(t, err)
	require.False(t, locked)
}

func TestWaiterGetsItsGrantByPush(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before, after func(*redistest.Proxy) // before: the waiter waits; after: it has been granted the lock
	}{
		"when the subscription broke before the push": {
			before: func(p *redistest.Proxy) { p.Refuse(); p.CutAll() },
			after:  func(p *redistest.Proxy) { p.Accept() },
		},
		"when no message of Redis arrives for a while": {
			before: func(p *redistest.Proxy) { p.Blackhole(redistest.ToClient) },
			after:  func(p *redistest.Proxy) { p.CutAll(); p.Heal() },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := within(t)
			rdb := redistest.Start(t)
			proxy := rdb.Proxy()
			holder, waiter := newLocker(t, rdb.Client()), newLocker(t, proxy.Client())
			key := newKey(t, "order", "push")
			held, err := holder.TryLock(ctx, key, 0, long)
			require.NoError(t, err)
			place := make(chan taken, 1)
			go func() {
				held, err := waiter.TryLock(ctx, key, long, long)
				place <- taken{held, err}
			}()
			inLine(t, waiter, key, 1)
			c.before(proxy)
			require.NoError(t, holder.Unlock(ctx, held))
			c.after(proxy)
			next := <-place
			require.NoError(t, next.err)
			require.Greater(t, next.held.Fence, held.Fence)
		})
	}
}

func TestWaitersGetInLineAgainWhenRedisLostItsData(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "lost")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	place := queue(ctx, t, l, key, 1)
	require.NoError(t, rdb.Client().FlushAll(ctx).Err())
	next := <-place
	require.NoError(t, next.err)
	require.Greater(t, next.held.Fence, held.Fence)
	require.ErrorIs(t, l.Unlock(ctx, held), lock.ErrNotHeld)
	require.NoError(t, l.Unlock(ctx, next.held))
}

func TestLeaseAndLineOutliveAFailover(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	sentinel := redistest.StartSentinel(t)
	rdb := sentinel.Client()
	l, key := newLocker(t, rdb), newKey(t, "order", "failover")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	place := queue(ctx, t, l, key, 1)
	gone := make(chan taken, 1)
	go func() {
		held, err := l.Lock(ctx, key, long)
		gone <- taken{held, err}
	}()
	waiting(t, l, key, 2)
	kept, begun, finish := make(chan error, 1), make(chan struct{}), make(chan struct{})
	other := newKey(t, "order", "kept")
	go func() {
		kept <- lock.Do(ctx, l, other, 0, soon, func(ctx context.Context, _ int64) error {
			close(begun)
			<-finish
			return context.Cause(ctx)
		}, lock.KeepAlive)
	}()
	<-begun
	replicated(ctx, t, sentinel.Master())
	sentinel.Failover()
	follows(ctx, t, rdb, sentinel.Master())

	var again *lock.Lease
	answered(t, func() error { again, err = l.Resume(ctx, held.Token()); return err })
	require.NoError(t, err, "the new master has the lease")
	require.NoError(t, l.Extend(ctx, again, long))
	require.NoError(t, l.Unlock(ctx, again))
	for _, waiter := range []<-chan taken{place, gone} {
		next := <-waiter
		require.NoError(t, next.err)
		require.Greater(t, next.held.Fence, held.Fence)
		require.NoError(t, l.Unlock(ctx, next.held))
		held = next.held
	}
	is, err := l.IsLocked(ctx, other)
	require.NoError(t, err)
	require.True(t, is)
	close(finish)
	require.NoError(t, <-kept)
}

// replicated returns once a replica has every write of the server so far. Production clients do not wait for
// that.
func replicated(ctx context.Context, t *testing.T, master *redistest.Server) {
	t.Helper()
	conn := master.Client().Conn()
	defer conn.Close()
	require.NoError(t, conn.Set(ctx, "replicated", "", time.Second).Err())
	n, err := conn.Wait(ctx, 1, soon).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// follows returns once a client writes to the new master. What it wrote to the old one before that is lost.
func follows(ctx context.Context, t *testing.T, rdb *redis.Client, master *redistest.Server) {
	t.Helper()
	require.Eventually(t, func() bool {
		return rdb.Set(ctx, "follows", "", time.Minute).Err() == nil &&
			master.Client().Exists(ctx, "follows").Val() == 1
	}, soon, 10*time.Millisecond)
}

// answered calls until Redis answers the call, with any result.
func answered(t *testing.T, call func() error) {
	t.Helper()
	require.Eventually(t, func() bool { return !errors.Is(call(), lock.ErrStore) }, soon, 10*time.Millisecond)
}

func TestLeaseOfLostDataIsOverForEveryVerb(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "lost")
	held, err := l.Lock(ctx, key, long)
	require.NoError(t, err)
	require.NoError(t, rdb.Client().FlushAll(ctx).Err())
	require.ErrorIs(t, l.Extend(ctx, held, long), lock.ErrNotHeld)
	_, err = l.Resume(ctx, held.Token())
	require.ErrorIs(t, err, lock.ErrNotHeld)
	is, err := l.IsHeld(ctx, held)
	require.NoError(t, err)
	require.False(t, is)
	require.ErrorIs(t, l.Unlock(ctx, held), lock.ErrNotHeld)
	next, err := l.Lock(ctx, key, long)
	require.NoError(t, err)
	require.Greater(t, next.Fence, held.Fence)
}

func TestHandDeletedLockGoesToTheNextInLine(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "deleted")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	place := queue(ctx, t, l, key, 1)
	require.NoError(t, rdb.Client().Del(ctx, "{lock:order:deleted}:lock").Err())
	require.NoError(t, (<-place).err)
	require.ErrorIs(t, l.Unlock(ctx, held), lock.ErrNotHeld)
}

func TestAbandonedCallsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "abandoned")
	warm, err := l.TryLock(within(t), key, long, long)
	require.NoError(t, err)
	require.NoError(t, l.Unlock(within(t), warm))
	rdb.Pause()
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, err := l.TryLock(ctx, key, long, long)
		require.ErrorIs(t, err, context.Canceled)
	}
	rdb.Resume()
	held, err := l.TryLock(within(t), key, soon, long)
	require.NoError(t, err)
	waiting(t, l, key, 0)
	require.NoError(t, l.Unlock(within(t), held))
}

func TestStoreThatIsAwayReturnsErrStore(t *testing.T) {
	t.Parallel()
	l := newLocker(t, client(t, "127.0.0.1:1"))
	key := newKey(t, "order", "away")
	for _, wait := range []time.Duration{0, long} {
		_, err := l.TryLock(within(t), key, wait, long)
		require.ErrorIs(t, err, lock.ErrStore)
	}
	_, err := l.IsLocked(within(t), key)
	require.ErrorIs(t, err, lock.ErrStore)
}

// deaf is a client whose first subscription looks healthy and receives nothing, like one to a demoted master.
type deaf struct {
	redis.UniversalClient
	elsewhere redis.UniversalClient
	heard     atomic.Bool
}

func (d *deaf) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	if d.heard.Swap(true) {
		return d.UniversalClient.Subscribe(ctx, channels...)
	}
	return d.elsewhere.Subscribe(ctx, channels...)
}

func TestSubscriptionWithoutMessagesIsRenewed(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	holder, key := newLocker(t, rdb.Client()), newKey(t, "order", "deaf")
	l := lockredis.New(&deaf{UniversalClient: client(t, rdb.Addr()), elsewhere: redistest.Start(t).Client()},
		lockredis.Config{Heartbeat: 300 * time.Millisecond})
	defer l.Close()
	held, err := holder.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	place := queue(ctx, t, l, key, 1)
	require.NoError(t, holder.Unlock(ctx, held))
	next := <-place
	require.NoError(t, next.err, "the answer to a heartbeat said so")
	require.Eventually(t, func() bool {
		channels, err := rdb.Client().PubSubChannels(ctx, "*").Result()
		return err == nil && len(channels) == 1
	}, soon, time.Millisecond)
}
