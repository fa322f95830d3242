package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// neighbours are the ways in which two deployments can share one Redis.
var neighbours = map[string]struct{ databases, prefixes [2]string }{
	"databases":         {databases: [2]string{"/0", "/1"}},
	"prefixes":          {prefixes: [2]string{"live:", "staging:"}},
	"one has no prefix": {prefixes: [2]string{"", "staging:"}},
}

// deployment starts a replica that has every subscription: a seller's socket in a room, the desk's room and
// all rooms.
func deployment(t *testing.T, redisURL, prefix string) *replica {
	t.Helper()
	r := start(t, config(t, append(supportArgs(t), "--redis-url", redisURL, "--redis-prefix", prefix)...))
	next(t, open(t, r.URL()))
	kim := newAgent(t, r.URL(), "kim")
	for _, path := range []string{"/api/support/ws", "/api/support/integration/ws"} {
		next(t, kim.watch(path))
	}
	return r
}

// hearers counts the subscribers of each channel of a Redis. Each pattern counts as one more.
func hearers(t *testing.T, rdb *redis.Client) (heard map[string]int64, total int64, err error) {
	names, err := rdb.PubSubChannels(t.Context(), "*").Result()
	heard = make(map[string]int64)
	for _, name := range names {
		n, failed := rdb.Publish(t.Context(), name, "").Result() // subscribers ignore an empty message
		if failed != nil {
			return nil, 0, failed
		}
		heard[name] = n
		total += n
	}
	return heard, total, err
}

// Redis's Pub/Sub is shared by all databases.
func TestDeploymentsThatShareARedisHearNothingOfEachOther(t *testing.T) {
	for name, n := range neighbours {
		t.Run(name, func(t *testing.T) {
			store := redistest.Start(t)
			one, two := deployment(t, store.URL()+n.databases[0], n.prefixes[0]),
				deployment(t, store.URL()+n.databases[1], n.prefixes[1])
			// events, and their pattern; notices of the lock key; replicas, sign-outs, devices; the replica's
			// own probe
			const each = 7
			var heard map[string]int64
			testproc.Until(t, patience, func() (err error) {
				var total int64
				if heard, total, err = hearers(t, store.Client()); err == nil && total < 2*each {
					err = fmt.Errorf("subscribed to %v", heard)
				}
				return err
			})
			for channel, n := range heard {
				want := int64(1)
				if strings.Contains(channel, ":events") {
					want = 2
				}
				require.Equal(t, want, n, "%s, among %v", channel, heard)
			}

			for _, r := range []*replica{one, two} { // both have a life of their own
				holder, waiter := newSeller(t, r.URL(), "s-1"), newSeller(t, r.URL(), "s-2")
				require.Equal(t, http.StatusOK, holder.join().StatusCode)
				require.Equal(t, http.StatusAccepted, waiter.join().StatusCode)
				follow(t, r.URL(), holder.link())
				require.Equal(t, http.StatusOK, holder.leave("?reason=completed").StatusCode)
				newAgent(t, r.URL(), "lee").history("?seller=s-1", func(r reply) bool { return len(r.list("leases")) == 1 })
			}
			lockKey := n.prefixes[1] + "{integration}:lock"
			require.NoError(t, two.store.Client.Get(t.Context(), lockKey).Err())
			requireKeysOf(t, one, n.prefixes)
			requireKeysOf(t, two, n.prefixes)
		})
	}
}

// requireKeysOf requires that every key in a deployment's database begins with one of its prefixes.
func requireKeysOf(t *testing.T, r *replica, prefixes [2]string) {
	t.Helper()
	keys, err := r.store.Client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, kind := range []string{"{waitroom}:", "{waitroom-support}:session:", "{waitroom-push}:key",
		"{waitroom-limit:", "{waitroom-link}:stands:", "{integration}:state"} {
		name := r.cfg.RedisPrefix + kind
		require.True(t, slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, name) }),
			"%s in %v", name, keys)
	}
	for _, key := range keys {
		require.True(t, slices.ContainsFunc(prefixes[:],
			func(p string) bool { return strings.HasPrefix(key, p+"{") }), key)
	}
}
