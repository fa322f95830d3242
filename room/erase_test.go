package room_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestErasedSellerKeepsItsPlaceInHistoryUnderAnotherName(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b := newSeller(t, e, "1"), newSeller(t, e, "live") // names that other fields contain too: 1, live
		a.join()
		b.join()
		before := a.leave(room.Completed)
		q := room.EraseRequest{Seller: "1", Pseudonym: "erased-x"}
		n, _, err := e.EraseSeller(t.Context(), integration, q)
		require.NoError(t, err)
		require.Equal(t, room.Erased{Places: 1, Leases: 1}, n)
		after := a.stand()
		require.Equal(t, "erased-x", after.Seller)
		require.Equal(t, before.Ticket, after.Ticket)
		require.Equal(t, room.Completed, after.Outcome)
		require.Equal(t, before.Version+1, after.Version, "replicas read the room anew")

		_, st, err := e.EraseSeller(t.Context(), integration,
			room.EraseRequest{Seller: "live", Pseudonym: "erased-y"})
		require.ErrorIs(t, err, room.ErrSellerHasPlace)
		require.Equal(t, room.Locked, st.Status)
		require.Equal(t, after.Version, b.stand().Version)
		_, _, err = e.EraseSeller(t.Context(), integration,
			room.EraseRequest{Seller: "live", Pseudonym: "erased-y", EndPlaces: true})
		require.NoError(t, err)
		require.Equal(t, room.Forced, b.stand().Outcome)
		require.Equal(t, "erased-y", b.stand().Seller)

		again, _, err := e.EraseSeller(t.Context(), integration, q)
		require.NoError(t, err)
		require.Zero(t, again)
		require.EqualValues(t, 3, newSeller(t, e, "1").join().Ticket, "the returning seller is a new one")
	})
}

func TestErasureFindsEveryRoomAndReplyOfACluster(t *testing.T) {
	c := redistest.StartCluster(t)
	e := room.New(c.Client(), room.Config{Journal: 100})
	for i := range 8 {
		id, session := room.ID(fmt.Sprintf("stock:%d", i)), room.NewSession()
		_, err := e.Join(t.Context(), id,
			room.JoinRequest{Request: room.NewSession(), Session: session, Seller: "s-1"})
		require.NoError(t, err)
		_, err = e.Leave(t.Context(), id,
			room.LeaveRequest{Request: room.NewSession(), Session: session, Outcome: room.Cancelled})
		require.NoError(t, err)
	}
	rooms, err := e.Rooms(t.Context())
	require.NoError(t, err)
	require.Len(t, rooms, 8)
	journals, err := e.Journals(t.Context())
	require.NoError(t, err)
	require.Equal(t, rooms, journals)
	for _, id := range rooms {
		n, _, err := e.EraseSeller(t.Context(), id, room.EraseRequest{Seller: "s-1", Pseudonym: "erased-x"})
		require.NoError(t, err)
		require.Equal(t, room.Erased{Places: 1, Leases: 1}, n)
	}
	replies, err := e.EraseReplies(t.Context(), "s-1", "erased-x")
	require.NoError(t, err)
	require.Equal(t, 16, replies)
	require.NoError(t, room.EachKey(t.Context(), c.Client(), "*:request:*", func(key string) error {
		text, err := c.Client().Get(t.Context(), key).Result()
		require.False(t, strings.Contains(text, "s-1"), text)
		return err
	}))
}
