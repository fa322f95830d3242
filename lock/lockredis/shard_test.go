package lockredis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

// Two processes wait for a key of a shard that answers. The first also waits for a key of a shard that does
// not.
func TestShardThatDoesNotAnswerCostsNoOtherKeyItsTurn(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	c := redistest.StartClusterWith(t,
		redistest.Config{Args: []string{"--cluster-require-full-coverage", "no", "--cluster-node-timeout",
			"60000"}})
	const heartbeat = 1500 * time.Millisecond
	quick := func() *lockredis.Locker {
		l := lockredis.New(c.Client(), lockredis.Config{Heartbeat: heartbeat})
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return l
	}
	first, second, holder := quick(), quick(), newLocker(t, c.Client())
	shard := func(key lock.Key) *redistest.Server {
		server, err := c.Owner("{lock:" + key.String() + "}:lock")
		require.NoError(t, err)
		return server
	}
	sound := newKey(t, "order", "1")
	dead := newKey(t, "order", "2")
	for i := 3; shard(dead) == shard(sound); i++ {
		dead = newKey(t, "order", fmt.Sprint(i))
	}
	held, err := holder.TryLock(ctx, sound, 0, long)
	require.NoError(t, err)
	_, err = holder.TryLock(ctx, dead, 0, long)
	require.NoError(t, err)
	queue(ctx, t, first, dead, 1)
	turn := queue(ctx, t, first, sound, 1)
	later := queue(ctx, t, second, sound, 2)

	silent, answers := shard(dead), shard(sound).Addr()
	silent.Pause()
	t.Cleanup(silent.Resume)
	time.Sleep(2 * heartbeat) // for as long as the process is silent about either key, if it waits for the shard
	require.NoError(t, holder.Unlock(ctx, held), "%s answers, %s does not", answers, silent.Addr())
	select {
	case got := <-turn:
		require.NoError(t, got.err)
		require.NoError(t, first.Unlock(ctx, got.held))
	case <-later:
		require.Fail(t, "the first one was passed over")
	}
	got := <-later
	require.NoError(t, got.err)
}
