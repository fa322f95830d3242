package reach_test

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/reach"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

func TestMessageIsWantedWhereTheSellerChoseItOrNeverHadTheChoice(t *testing.T) {
	rdb := redistest.Shared(t)
	c := reach.New(rdb, room.NamesOf(rdb, ""))
	ctx, id := t.Context(), room.ID("a:1")
	requireWanted := func(want ...bool) {
		t.Helper()
		got, err := c.Wanted(ctx, id, []int64{1, 2, 3})
		require.NoError(t, err)
		require.Equal(t, want, got)
		chosen, err := c.Chosen(ctx, id, 2)
		require.NoError(t, err)
		require.Equal(t, want[1], chosen)
	}
	require.NoError(t, c.Offer(ctx, id, 2))
	require.NoError(t, c.Offer(ctx, id, 3))
	requireWanted(true, false, false)
	require.NoError(t, c.Choose(ctx, id, 2, true))
	require.NoError(t, c.Offer(ctx, id, 2), "a repeated join keeps the choice")
	requireWanted(true, true, false)
	other, err := c.Wanted(ctx, "a", []int64{2})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, other, "another room")
	require.NoError(t, c.Choose(ctx, id, 2, false))
	requireWanted(true, false, false)
	left, err := rdb.TTL(ctx, room.NamesOf(rdb, "").Key("{waitroom-reach}:")+"a:1 2").Result()
	require.NoError(t, err)
	require.Positive(t, left)
}

func TestErrorOfTheStoreIsNamed(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	c := reach.New(rdb, room.NamesOf(rdb, ""))
	_, chosen := c.Chosen(t.Context(), "a", 1)
	_, wanted := c.Wanted(t.Context(), "a", []int64{1})
	for _, err := range []error{chosen, wanted, c.Offer(t.Context(), "a", 1), c.Choose(t.Context(), "a", 1, true)} {
		require.ErrorIs(t, err, room.ErrStore)
	}
}
