package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// Redis's clock was set back, and fences are made from its time.
func TestFenceGrowsWhenTheClockGoesBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		a.leave(room.Completed)
		const ahead = int64(4_000_000_000_000_000)
		redistest.SetState(t, rdb, "integration", "fence", ahead)
		require.Equal(t, ahead+1, a.join().Fence)
	})
}

// If two leases overlap, an SMS could belong to either.
func TestLeasesDoNotOverlapWhenTheClockGoesBack(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	embedded.SetTime(start)
	e := room.New(rdb, room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	a.join()
	b.join()
	embedded.SetTime(start.Add(10 * time.Second))
	over := a.leave(room.Completed)
	embedded.SetTime(start.Add(5 * time.Second))
	b.leave(room.Completed)
	next := a.join()
	require.GreaterOrEqual(t, next.Lease.GrantedAt, over.Now)
	leases, err := rdb.ZRangeWithScores(t.Context(), "{integration}:leases", 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, leases, 2)
	require.GreaterOrEqual(t, leases[1].Score, float64(over.Now))
}

// Redis's clock is set back by half a minute while one session holds the lock and another is away.
func TestClockThatIsSetBackPutsNothingOff(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	at := time.Now()
	embedded.SetTime(at)
	pass := func(d time.Duration) {
		at = at.Add(d)
		embedded.SetTime(at)
	}
	e := room.New(rdb, room.Config{Journal: 1000})
	a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
	a.join()
	b.join()
	c.join()
	b.here(time.Second)
	pass(20 * time.Second)
	a.stand()
	pass(-30 * time.Second)
	st := a.stand()
	require.Equal(t, 100*time.Second, time.Duration(st.Lease.ExpiresAt-st.Now)*time.Millisecond,
		"what it had left")
	pass(100 * time.Second)
	st = c.stand()
	require.Equal(t, room.Locked, st.Status, "b has been gone for longer than it may be")
	require.Equal(t, 2*time.Minute, time.Duration(st.Lease.ExpiresAt-st.Now)*time.Millisecond)
	pass(-time.Hour)
	c.leave(room.Cancelled)
	d := newSeller(t, e, "d").join()
	require.Equal(t, room.Locked, d.Status)
	require.Equal(t, 2*time.Minute, time.Duration(d.Lease.ExpiresAt-d.Now)*time.Millisecond)
}

// No replica can vouch for a session while Redis hangs.
func TestNoSessionIsAwayBecauseTheStoreHung(t *testing.T) {
	for _, awayAfter := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second,
		15 * time.Second} {
		t.Run(awayAfter.String(), func(t *testing.T) {
			embedded := redistest.StartEmbedded(t)
			rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
			t.Cleanup(func() { require.NoError(t, rdb.Close()) })
			at := time.Now()
			embedded.SetTime(at)
			e := room.New(rdb, room.Config{AwayAfter: awayAfter})
			a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
			for _, s := range []seller{a, b, c} {
				s.join()
			}
			b.here(700 * time.Millisecond)
			c.here(700 * time.Millisecond)
			embedded.SetTime(at.Add(awayAfter + 2*time.Second))
			embedded.SetError("LOADING Redis is loading the dataset in memory")
			_, err := e.Expire(t.Context(), integration) // any failed call shows the engine the outage
			require.Error(t, err)
			embedded.SetError("")
			c.here(700 * time.Millisecond) // c's replica is the first whose call Redis answers again
			a.leave(room.Completed)
			require.Equal(t, room.Locked, b.stand().Status)
		})
	}
}
