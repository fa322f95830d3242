package lockredis_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
	"github.com/waitroom/waitroom/lock/locktest"
)

const (
	soon = 20 * time.Second // what must happen happens by then
	long = time.Minute      // a wait or a lease that does not run out in a test
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		os.Exit(playRole())
	}
	goleak.VerifyTestMain(shared{m})
}

// shared runs the tests with one PostgreSQL for all of them, which is gone before goroutines are counted.
type shared struct{ m *testing.M }

func (s shared) Run() int { return pgtest.Main(s.m) }

func TestRedisKeepsTheRules(t *testing.T) {
	stores := map[string]func(*testing.T) redis.UniversalClient{
		"embedded": func(t *testing.T) redis.UniversalClient { return client(t, redistest.StartEmbedded(t).Addr()) },
		"single":   func(t *testing.T) redis.UniversalClient { return redistest.Start(t).Client() },
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

// brief takes the lock for a lease that is over soon; for a longer one where Redis takes as long to answer.
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

// inLine returns when n of the locker's own wait for the lock, and know it.
func inLine(t testing.TB, l *lockredis.Locker, key lock.Key, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return l.InLine(key) == n }, soon, time.Millisecond)
}

// waiting returns when n wait for the lock.
func waiting(t testing.TB, l *lockredis.Locker, key lock.Key, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		have, err := l.Waiting(t.Context(), key)
		return err == nil && have == n
	}, soon, time.Millisecond)
}
