package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestLostDataStartsANewEpochAndTheFenceStillGrows(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		before := a.join()
		b.join()
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		require.Equal(t, room.Idle, b.stand().Status)
		after := b.join()
		require.Equal(t, room.Locked, after.Status)
		require.Equal(t, int64(1), after.Ticket)
		require.Greater(t, after.Epoch, before.Epoch)
		require.Greater(t, after.Fence, before.Fence)
	})
}

func TestStateLostAloneDoesNotLeaveTheOldLeaseBehind(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		before := a.join()
		require.NoError(t, rdb.Del(t.Context(), "{integration}:state").Err())
		after := b.join()
		require.Equal(t, room.Locked, after.Status)
		require.Greater(t, after.Fence, before.Fence)
		require.Equal(t, room.Idle, a.stand().Status)
	})
}

func TestRenewStartsANewEpochOnlyWhenTheStoreWentBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		before := a.join()
		same, err := e.Renew(t.Context(), integration, before.Epoch, before.Version)
		require.NoError(t, err)
		require.Equal(t, before.Epoch, same.Epoch)
		after, err := e.Renew(t.Context(), integration, before.Epoch, before.Version+1)
		require.NoError(t, err)
		require.Greater(t, after.Epoch, before.Epoch)
		require.Nil(t, after.Lease)
		again, err := e.Renew(t.Context(), integration, before.Epoch, before.Version+1)
		require.NoError(t, err)
		require.Equal(t, after.Epoch, again.Epoch, "another replica noticed too")
		require.Zero(t, rdb.Exists(t.Context(), "{integration}:lock").Val())
		require.Greater(t, a.join().Fence, before.Fence)
	})
}

// A clock that was set back does not make a fence smaller.
func TestFenceGrowsWhenTheClockGoesBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		a.leave(room.Completed)
		const ahead = int64(4_000_000_000_000_000)
		require.NoError(t, rdb.HSet(t.Context(), "{integration}:state", "fence", ahead).Err())
		require.Equal(t, ahead+1, a.join().Fence)
	})
}

// An SMS could belong to either of two leases that overlap.
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

// Places without their room's state can not be trusted: whoever looks first begins a new epoch.
func TestStateLostAloneIsNoticedByWhoeverLooks(t *testing.T) {
	for name, look := range map[string]func(t *testing.T, e *room.Engine, s seller){
		"the holder":  func(_ *testing.T, _ *room.Engine, s seller) { s.stand() },
		"a heartbeat": func(_ *testing.T, _ *room.Engine, s seller) { s.here(time.Second) },
		"the sweep": func(t *testing.T, e *room.Engine, _ seller) {
			_, err := e.Expire(t.Context(), integration)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				e := room.New(rdb, room.Config{AwayAfter: time.Millisecond})
				a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
				before := a.join()
				b.join()
				b.here(0)
				passUntil(t, rdb, b.stand().Now+3)
				require.NoError(t, rdb.Del(t.Context(), "{integration}:state").Err())
				look(t, e, a)
				for _, s := range []seller{a, b} {
					after := s.stand()
					require.Equal(t, room.Idle, after.Status)
					require.Greater(t, after.Epoch, before.Epoch)
					require.Zero(t, after.Waiting)
				}
			})
		})
	}
}

// The record of the new epoch must not go away with an idle room's keys.
func TestRenewWakesAnIdleRoom(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 1000})
		a := newSeller(t, e, "a")
		a.join()
		before := a.leave(room.Cancelled)
		entries, err := e.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		require.NoError(t, e.TrimJournal(t.Context(), integration, entries))
		found, err := e.Expire(t.Context(), integration)
		require.NoError(t, err)
		require.True(t, found.Asleep)

		_, err = e.Renew(t.Context(), integration, before.Epoch, before.Version+1)
		require.NoError(t, err)
		for _, key := range []string{"{integration}:state", room.JournalKey(integration)} {
			require.Equal(t, time.Duration(-1), rdb.PTTL(t.Context(), key).Val(), key)
		}
	})
}

// Somebody saw the room; the store was emptied. The epoch is new for those who watch, and the record of
// it is found by the sweep, although nobody joins.
func TestRenewBeginsAnewWhereTheStoreHasNothingOfTheRoom(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 1000})
		before := newSeller(t, e, "a").join()
		never, err := e.Renew(t.Context(), "never", 0, 0)
		require.NoError(t, err)
		require.Zero(t, never.Epoch, "a room that nobody saw is not lost")

		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		ahead := before.Epoch + time.Hour.Microseconds() // seen by the clock of the master before
		after, err := e.Renew(t.Context(), integration, ahead, before.Version)
		require.NoError(t, err)
		require.Greater(t, after.Epoch, ahead)
		require.EqualValues(t, 1, after.Version)
		again, err := e.Renew(t.Context(), integration, ahead, before.Version)
		require.NoError(t, err)
		require.Equal(t, after.Epoch, again.Epoch, "another replica noticed too")
		sweepUntil(t, e, func(id room.ID, found room.Checked) bool { return id == integration && found.Journal > 0 })
	})
}
