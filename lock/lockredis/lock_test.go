package lockredis_test

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
	"github.com/waitroom/waitroom/lock/locktest"
)

const (
	soon = time.Minute     // the most that a test waits for an event
	long = 3 * time.Minute // a wait or a lease that does not run out in a test
	idle = 8               // so many tests at a time wait for leases and dead processes
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		os.Exit(playRole())
	}
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(idle)); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(shared{m}, goleak.IgnoreAnyFunction(dialsAgain))
}

// dialsAgain is the function in which a client waits before it dials a Redis that does not listen. That takes
// up to a second after the client was closed, whichever test comes last.
const dialsAgain = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"

// shared runs the tests with one Redis and one PostgreSQL, which end before leaked goroutines are counted.
type shared struct{ m *testing.M }

func (s shared) Run() int { return redistest.Main(withPostgres(s)) }

type withPostgres shared

func (p withPostgres) Run() int { return pgtest.Main(p.m) }

func TestRedisKeepsTheRules(t *testing.T) {
	t.Parallel()
	stores := map[string]func(*testing.T) redis.UniversalClient{
		"embedded": func(t *testing.T) redis.UniversalClient {
			return client(t, redistest.StartEmbedded(t).Addr())
		},
		"single":   func(t *testing.T) redis.UniversalClient { return redistest.Shared(t) },
		"sentinel": func(t *testing.T) redis.UniversalClient { return redistest.StartSentinel(t).Client() },
		"cluster":  func(t *testing.T) redis.UniversalClient { return redistest.StartCluster(t).Client() },
	}
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := start(t)
			locktest.Conformance(t, func(t *testing.T) lock.Locker { return newLocker(t, rdb) })
		})
	}
}

func newLocker(t testing.TB, rdb redis.UniversalClient) *lockredis.Locker {
	t.Helper()
	l := lockredis.New(rdb, lockredis.Config{})
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func client(t testing.TB, addr string) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

func newKey(t testing.TB, parts ...string) lock.Key {
	t.Helper()
	key, err := lock.NewKey(parts...)
	require.NoError(t, err)
	return key
}

// within is a context that ends before a stuck test would.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

// brief takes the lock for a lease that ends soon. The lease is longer if Redis takes as long to answer.
func brief(ctx context.Context, t testing.TB, l *lockredis.Locker, key lock.Key) *lock.Lease {
	t.Helper()
	for lease := 500 * time.Millisecond; ; lease *= 2 {
		held, err := l.TryLock(ctx, key, long, lease)
		if err == nil {
			return held
		}
		require.ErrorIs(t, err, lock.ErrNotAcquired)
	}
}

// inLine waits until n of the locker's own waiters know that they wait for the lock.
func inLine(t testing.TB, l *lockredis.Locker, key lock.Key, n int) {
	t.Helper()
	testproc.Until(t, soon, func() error { return so(l.InLine(key) == n) })
}

// waiting waits until n callers wait for the lock.
func waiting(t testing.TB, l *lockredis.Locker, key lock.Key, n int) {
	t.Helper()
	testproc.Until(t, soon, func() error {
		have, err := l.Waiting(t.Context(), key)
		return errors.Join(err, so(have == n))
	})
}

func so(is bool) error {
	if is {
		return nil
	}
	return errors.New("it is not so")
}

// The engine's word for it speaks of a seller's turn.
func TestExtensionByTooLongATimeIsRefusedInWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	l, key := newLocker(t, redistest.Lent(t).Client()), newKey(t, "order", "for ever")
	held, err := l.TryLock(within(t), key, 0, long)
	require.NoError(t, err)
	require.ErrorContains(t, l.Extend(within(t), held, math.MaxInt64), "longer than 292 years")
	is, err := l.IsHeld(within(t), held)
	require.NoError(t, err)
	require.True(t, is)
}
