package room_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const stateHash = "{integration}:state"

func TestRoomOfALaterFormatIsLeftAlone(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a := newSeller(t, e, "a")
		a.join()
		require.Equal(t, "1", redistest.State(t, rdb, "integration", "format"))
		redistest.SetState(t, rdb, "integration", "format", room.Format+1)
		before := rdb.HGetAll(t.Context(), stateHash).Val()
		_, err := e.Join(t.Context(), integration, room.JoinRequest{Session: room.NewSession(), Seller: "b"})
		require.ErrorIs(t, err, room.ErrNewer)
		require.ErrorIs(t, err, room.ErrStore)
		_, err = e.Snapshot(t.Context(), integration)
		require.ErrorIs(t, err, room.ErrNewer)
		require.Equal(t, before, rdb.HGetAll(t.Context(), stateHash).Val())
	})
}

func TestEventOfALaterFormatIsRefused(t *testing.T) {
	_, err := room.ParseEvent(`{"format":2,"epoch":1,"version":1}`)
	require.ErrorIs(t, err, room.ErrNewer)
	e, err := room.ParseEvent(`{"epoch":1,"version":1}`)
	require.NoError(t, err)
	require.Zero(t, e.Format)
}

func TestJournalOfALaterFormatWaitsForALaterProgram(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		newSeller(t, e, "a").join()
		require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: room.Names{}.Journal(integration),
			Values: map[string]any{"format": 2, "epoch": 1, "version": 9, "records": "?"}}).Err())
		newSeller(t, e, "b").join()
		entries, err := e.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.NoError(t, e.TrimJournal(t.Context(), integration, entries))
		_, err = e.ReadJournal(t.Context(), integration, 100)
		require.ErrorIs(t, err, room.ErrNewer)
	})
}
