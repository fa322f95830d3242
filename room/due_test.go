package room

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
)

// Who looked before something became due says when to look again, and does not know of it.
func TestRoomThatBecomesDueWhileSomebodyLooksIsLookedAtAgain(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	now := time.Now()
	store.SetTime(now)
	x := newIndex(rdb, "waitroom", 0)
	_, err := x.register(t.Context(), "integration")
	require.NoError(t, err)
	due := func() []claim {
		found, err := x.claim(t.Context(), 1, time.Second)
		require.NoError(t, err)
		return found.rooms
	}
	looking := due()
	require.Len(t, looking, 1)
	alone, err := x.dueIn(t.Context(), "integration", 15*time.Second)
	require.NoError(t, err)
	require.False(t, alone, "somebody looks")
	require.NoError(t, x.reschedule(t.Context(), looking[0], time.Hour, false))
	store.SetTime(now.Add(claimFor))
	again := due()
	require.Len(t, again, 1)
	require.NoError(t, x.reschedule(t.Context(), again[0], time.Hour, false))

	alone, err = x.dueIn(t.Context(), "integration", 15*time.Second)
	require.NoError(t, err)
	require.True(t, alone)
	store.SetTime(now.Add(claimFor + 15*time.Second))
	require.Len(t, due(), 1)
}
