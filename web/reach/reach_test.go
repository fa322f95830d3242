package reach_test

import (
	"os"
	"strings"
	"testing"
	"time"

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
	ctx := t.Context()
	requireWanted := func(want ...bool) {
		t.Helper()
		got, err := c.Wanted(ctx, []string{"s-1", "s-2", "s-3"})
		require.NoError(t, err)
		require.Equal(t, want, got)
		chosen, err := c.Chosen(ctx, "s-2")
		require.NoError(t, err)
		require.Equal(t, want[1], chosen)
	}
	require.NoError(t, c.Offer(ctx, "s-2"))
	require.NoError(t, c.Offer(ctx, "s-3"))
	requireWanted(true, false, false)
	require.NoError(t, c.Choose(ctx, "s-2", true))
	keys, err := rdb.Keys(ctx, "*reach*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 2)
	for _, key := range keys {
		require.NoError(t, rdb.Expire(ctx, key, time.Minute).Err())
	}
	require.NoError(t, c.Offer(ctx, "s-2"), "a repeated join keeps the choice")
	require.NoError(t, c.Offer(ctx, "s-3"))
	requireWanted(true, true, false)
	require.NoError(t, c.Choose(ctx, "s-2", false))
	requireWanted(true, false, false)
	require.NotContains(t, strings.Join(keys, " "), "s-2")
	for _, key := range keys {
		left, err := rdb.TTL(ctx, key).Result()
		require.NoError(t, err)
		require.Greater(t, left, 47*time.Hour, "from the last join")
	}
	require.NoError(t, c.Erase(ctx, "s-3"))
	requireWanted(true, false, true)
}

func TestErrorOfTheStoreIsNamed(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	c, ctx := reach.New(rdb, room.NamesOf(rdb, "")), t.Context()
	_, chosen := c.Chosen(ctx, "s-1")
	_, wanted := c.Wanted(ctx, []string{"s-1"})
	for _, err := range []error{chosen, wanted, c.Offer(ctx, "s-1"), c.Choose(ctx, "s-1", true),
		c.Erase(ctx, "s-1")} {
		require.ErrorIs(t, err, room.ErrStore)
	}
}
