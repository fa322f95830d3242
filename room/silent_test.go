package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func (s seller) silent(lately, since time.Duration) {
	s.t.Helper()
	_, err := s.engine.Silent(s.t.Context(), integration, lately, []room.Silence{{Session: s.session, For: since}})
	require.NoError(s.t, err)
}

func TestWhoIsSilentWasThereUntilItWasLastHeardOf(t *testing.T) {
	const lately, vouch = 10 * time.Millisecond, 20 * time.Millisecond
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		at := func(set string, s seller) float64 {
			return rdb.ZScore(context.Background(), "{integration}:"+set, s.session).Val()
		}
		e := room.New(rdb, room.Config{AwayAfter: time.Minute})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		for _, s := range []seller{a, b, c} {
			s.join()
		}
		b.here(vouch)
		vouched := at("seen", b)
		b.silent(time.Hour, 2*time.Minute)
		require.Equal(t, vouched, at("seen", b), "it was vouched for lately: it has a socket elsewhere")

		passUntil(t, rdb, int64(vouched)+11)
		b.silent(lately, 0)
		require.Equal(t, vouched, at("seen", b), "it was last heard of after it was last seen")
		c.silent(lately, 2*time.Minute)
		require.Zero(t, at("away", c), "nobody ever vouched for it")
		b.silent(lately, 2*time.Minute)
		gone := at("away", b)
		require.NotZero(t, gone)
		require.Less(t, gone, vouched-float64(time.Minute.Milliseconds()))

		b.silent(lately, 0)
		require.Equal(t, gone, at("away", b), "who is away is not brought back by what was heard of it before")
		a.leave(room.Completed)
		require.Equal(t, room.Locked, c.stand().Status)
	})
}
