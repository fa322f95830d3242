package lockredis_test

import (
	"context"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock/lockredis"
)

// A goroutine for each call would cost more than the call.
func TestCommandsRunOnTheGoroutineOfTheCall(t *testing.T) {
	t.Parallel()
	d := &dials{}
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Lent(t).Addr(), Dialer: d.dial})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	l, key := newLocker(t, rdb), newKey(t, "order", "stack")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	require.NoError(t, l.Unlock(ctx, held))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, call := range []string{".TryLock(", ".Unlock("} {
		require.True(t, slices.ContainsFunc(d.stacks, func(stack string) bool {
			return strings.Contains(stack, "TestCommandsRunOn") && strings.Contains(stack, call)
		}), call)
	}
}

// dials counts the connections of a client that are open.
type dials struct {
	mu         sync.Mutex
	open, most int
	stacks     []string // of all writes
}

type countedConn struct {
	net.Conn
	once sync.Once
	gone func()
	d    *dials
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.d.mu.Lock()
	c.d.stacks = append(c.d.stacks, string(debug.Stack()))
	c.d.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *countedConn) Close() error {
	c.once.Do(c.gone)
	return c.Conn.Close()
}

func (d *dials) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open += n
	d.most = max(d.most, d.open)
}

func (d *dials) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.add(1)
	return &countedConn{Conn: conn, d: d, gone: func() { d.add(-1) }}, nil
}

func TestLockerHasAtMostAsManyConnectionsAsThePoolAndClosesThem(t *testing.T) {
	t.Parallel()
	const pool, callers = 3, 20
	d := &dials{}
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Lent(t).Addr(), PoolSize: pool, Dialer: d.dial})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	l := lockredis.New(rdb, lockredis.Config{})
	key := newKey(t, "order", "many")
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := l.IsLocked(ctx, key)
				cancel()
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.Equal(t, pool, d.most)
	require.NoError(t, l.Close())
	require.Zero(t, d.open)
	_, err := l.IsLocked(t.Context(), key)
	require.NoError(t, err, "a closed locker still answers")
	require.Zero(t, d.open, "and keeps no connection")
}

// The answer to an interrupted call may still come, and is no other call's.
func TestInterruptedConnectionIsClosed(t *testing.T) {
	t.Parallel()
	proxy := redistest.Start(t).Proxy()
	d := &dials{}
	rdb := redis.NewClient(&redis.Options{Addr: proxy.Addr(), Dialer: d.dial})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	l, key := newLocker(t, rdb), newKey(t, "order", "cut")
	held, err := l.TryLock(t.Context(), key, 0, long)
	require.NoError(t, err)
	require.Equal(t, 1, d.open)
	proxy.Blackhole(redistest.ToClient)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = l.IsLocked(ctx, key)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Zero(t, d.open)
	proxy.Heal()
	is, err := l.IsHeld(t.Context(), held)
	require.NoError(t, err)
	require.True(t, is)
}

func TestConnectionsHaveTheClientsOptions(t *testing.T) {
	t.Parallel()
	for _, given := range []redis.Options{{}, {MaxRetries: -1, MinRetryBackoff: -1, MaxRetryBackoff: -1,
		ReadTimeout: -1, WriteTimeout: -1}, {ReadTimeout: -2, WriteTimeout: -2}, {MaxRetries: 7, DB: 2, Protocol: 2,
		ReadTimeout: time.Second, ClientName: "x", Username: "u"}} {
		rdb := redis.NewClient(&given)
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		got, want := newLocker(t, rdb).OptionsOfConnections(), rdb.Options()
		require.Equal(t, []any{want.MaxRetries, want.MinRetryBackoff, want.MaxRetryBackoff, want.ReadTimeout,
			want.WriteTimeout, want.DB, want.Protocol, want.ClientName, want.Username}, []any{got.MaxRetries,
			got.MinRetryBackoff, got.MaxRetryBackoff, got.ReadTimeout, got.WriteTimeout, got.DB, got.Protocol,
			got.ClientName, got.Username})
	}
}

// Such clients change their master, and close connections to the old one in their own pool alone.
func TestClientsThatFindTheirMasterKeepTheirConnections(t *testing.T) {
	t.Parallel()
	for _, rdb := range []redis.UniversalClient{
		redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxActiveConns: 3}),
		redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}}),
		redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})} {
		t.Cleanup(func() { _ = rdb.Close() })
		require.Nil(t, newLocker(t, rdb).OptionsOfConnections())
	}
}

// The wait runs out, and the call leaves the line, while Redis hangs.
func TestContextEndsACallThatGivesUpItsPlace(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	l, key := newLocker(t, client(t, rdb.Addr())), newKey(t, "give", "up")
	_, err := l.TryLock(within(t), key, 0, long)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() {
		_, err := l.TryLock(ctx, key, time.Second, long)
		over <- err
	}()
	require.Eventually(t, func() bool { return l.InLine(key) == 1 }, soon, time.Millisecond)
	rdb.Pause()
	t.Cleanup(rdb.Resume)
	require.Eventually(t, func() bool { return l.InLine(key) == 0 }, soon, time.Millisecond)
	cancel()
	select {
	case err := <-over:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(4 * time.Second): // Redis has 5 s for the leave
		require.Fail(t, "the call waits for Redis")
	}
}
