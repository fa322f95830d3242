package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// far is how long a sleeping room may be left alone; nobody in this test waits for it.
const far = time.Hour

// leftAlone looks at every due room once, as the sweep does, so that a sleeping one is due again far from now.
func leftAlone(t *testing.T, rdb redis.UniversalClient, e *room.Engine) {
	t.Helper()
	sweepUntil(t, e, func(id room.ID, c room.Checked) bool { return id == integration && c.Asleep })
	require.Eventually(t, func() bool { return dueIn(t, rdb) > far/2 }, 5*time.Second, time.Millisecond)
}

func dueIn(t *testing.T, rdb redis.UniversalClient) time.Duration {
	t.Helper()
	at, err := rdb.ZScore(t.Context(), "{waitroom}:due", string(integration)).Result()
	require.NoError(t, err)
	now, err := rdb.Time(t.Context()).Result()
	require.NoError(t, err)
	return time.UnixMilli(int64(at)).Sub(now)
}

// A process trusts its own registration for a while; a room that fell asleep in that while is due only
// long from now, and has to be made due again by whoever wakes it.
func TestWhoeverWakesARoomMakesItDueAtOnce(t *testing.T) {
	for name, wake := range map[string]func(*testing.T, *room.Engine){
		"join": func(t *testing.T, e *room.Engine) { newSeller(t, e, "b").join() },
		"message": func(t *testing.T, e *room.Engine) {
			_, err := e.Match(t.Context(), integration, room.MatchRequest{MessageID: "m"})
			require.NoError(t, err)
		},
		"pause": func(t *testing.T, e *room.Engine) {
			_, err := e.Pause(t.Context(), integration, "", true, byKim)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				e := room.New(rdb, room.Config{IdleEvery: far})
				a := newSeller(t, e, "a")
				a.join()
				a.leave(room.Completed)
				leftAlone(t, rdb, e)
				wake(t, e)
				require.LessOrEqual(t, dueIn(t, rdb), time.Duration(0))
			})
		})
	}
}

func TestRoomIsListedAgainWhenTheIndexIsLostWithTheRest(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		a.join()
		require.LessOrEqual(t, dueIn(t, rdb), time.Duration(0))
	})
}
