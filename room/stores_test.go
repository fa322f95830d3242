package room_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

// Every key of a room lies in one slot and is declared, so the same scripts run everywhere.
func TestScriptsRunOnSentinelAndCluster(t *testing.T) {
	for name, start := range map[string]func(testing.TB) redis.UniversalClient{
		"sentinel": func(tb testing.TB) redis.UniversalClient { return redistest.StartSentinel(tb).Client() },
		"cluster":  func(tb testing.TB) redis.UniversalClient { return redistest.StartCluster(tb).Client() },
	} {
		t.Run(name, func(t *testing.T) {
			e := room.New(start(t), room.Config{Journal: 1000})
			for i := range 20 { // rooms in many slots
				handOff(t, e, room.ID(fmt.Sprint("room:", i)))
			}
		})
	}
}

func handOff(t *testing.T, e *room.Engine, id room.ID) {
	a, b := room.NewSession(), room.NewSession()
	for _, session := range []string{a, b} {
		_, err := e.Join(t.Context(), id, room.JoinRequest{Session: session, Seller: session})
		require.NoError(t, err)
	}
	_, err := e.Leave(t.Context(), id, room.LeaveRequest{Session: a, Outcome: room.Completed})
	require.NoError(t, err)
	st, err := e.Stand(t.Context(), id, b)
	require.NoError(t, err)
	require.Equal(t, room.Locked, st.Status)
	snapshot, err := e.Snapshot(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, snapshot.Ranks)
	entries, err := e.ReadJournal(t.Context(), id, 10)
	require.NoError(t, err)
	require.Len(t, entries, 3)
}
