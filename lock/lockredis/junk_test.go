package lockredis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
)

func TestErrorNamesTheKeyOfALockThatHasSomethingElse(t *testing.T) {
	t.Parallel()
	const fence, holder = "{lock:junk}:fence", "{lock:junk}:lock"
	junk := map[string]struct {
		key   string
		write func(redis.UniversalClient) error
	}{
		"a text in the fence's key": {fence, func(rdb redis.UniversalClient) error {
			return rdb.Set(t.Context(), fence, "by hand", 0).Err()
		}},
		"a number that no fence reaches": {fence, func(rdb redis.UniversalClient) error {
			return rdb.Set(t.Context(), fence, "99999999999999999999", 0).Err()
		}},
		"a list in the fence's key": {fence, func(rdb redis.UniversalClient) error {
			return rdb.RPush(t.Context(), fence, "by hand").Err()
		}},
		"a list in the lock key": {holder, func(rdb redis.UniversalClient) error {
			return rdb.RPush(t.Context(), holder, "by hand").Err()
		}},
	}
	for store, rdb := range map[string]redis.UniversalClient{
		"embedded": client(t, redistest.StartEmbedded(t).Addr()), "single": redistest.Shared(t)} {
		l, key := newLocker(t, rdb), newKey(t, "junk")
		for name, j := range junk {
			t.Run(store+"/"+name, func(t *testing.T) {
				require.NoError(t, j.write(rdb))
				_, tried := l.TryLock(t.Context(), key, 0, time.Minute)
				_, asked := l.IsLocked(t.Context(), key)
				for _, err := range []error{tried, asked} {
					require.ErrorIs(t, err, lock.ErrStore)
					require.ErrorContains(t, err, "the key "+j.key+" is not the ")
					require.ErrorContains(t, err, ": DEL it, unless another program needs it")
				}
				require.NoError(t, rdb.Del(t.Context(), j.key).Err())
				held, err := l.TryLock(t.Context(), key, 0, time.Minute)
				require.NoError(t, err)
				require.NoError(t, l.Unlock(t.Context(), held))
				require.NoError(t, rdb.Del(t.Context(), fence).Err())
			})
		}
	}
}
