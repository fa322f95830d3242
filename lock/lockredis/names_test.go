package lockredis_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock/lockredis"
)

func TestLockersWithAnotherPrefixOrDatabaseShareNoLock(t *testing.T) {
	ctx := within(t)
	store := redistest.Start(t)
	other := redis.NewClient(&redis.Options{Addr: store.Addr(), DB: 1})
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	key := newKey(t, "order", "1")
	for _, l := range []*lockredis.Locker{
		lockredis.New(store.Client(), lockredis.Config{}),
		lockredis.New(store.Client(), lockredis.Config{Prefix: "staging:"}),
		lockredis.New(other, lockredis.Config{}),
	} {
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		held, err := l.TryLock(ctx, key, 0, long)
		require.NoError(t, err)
		queue(ctx, t, l, key, 1)
		require.NoError(t, l.Unlock(ctx, held))
	}
	keys, err := store.Client().Keys(ctx, "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		require.Regexp(t, `^(staging:)?\{lock:`, key)
	}
	channels, err := store.Client().PubSubChannels(ctx, "*").Result()
	require.NoError(t, err)
	require.Len(t, channels, 3)
	for _, channel := range channels {
		require.Regexp(t, `^(staging:)?waitroom-lock:[0-9a-f-]{36}(@1)?$`, channel)
	}
}
