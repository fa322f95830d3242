package room_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// Rule 2 of docs/contract.md: without a socket, a call brings a waiter back for AWAY_AFTER.
func TestAwayWaiterIsBackByACall(t *testing.T) {
	for name, call := range map[string]func(*desk, seller) room.Standing{
		"POST lock": func(_ *desk, s seller) room.Standing { return s.join() },
		"claim": func(d *desk, s seller) room.Standing {
			st, err := d.engine.ClaimTurn(d.Context(), integration, room.ClaimRequest{Session: s.session})
			require.NoError(d, err)
			return st
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{AwayAfter: 15 * time.Second})
			a, b, c := d.plain("a"), d.plain("b"), d.plain("c")
			b.here(0)
			c.here(0)
			d.pass(16 * time.Second)
			a.leave(room.Cancelled)
			require.Nil(t, b.stand().Lease, "b and c are away")
			require.Equal(t, room.Locked, call(d, b).Status, "in that call")
			require.Equal(t, room.Waiting, call(d, c).Status)
			d.pass(14 * time.Second)
			b.leave(room.Cancelled)
			require.Equal(t, room.Locked, c.stand().Status, "it counted as there")
		})
	}
}

func TestAwayWaiterIsPassedOverAndIsFirstAgainWhenBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{AwayAfter: 20 * time.Millisecond})
		a, b, c, d := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c"), newSeller(t, e, "d")
		a.join()
		b.join()
		c.join()
		d.join()
		b.here(time.Second)
		b.gone()
		passUntil(t, rdb, b.stand().Now+21)
		require.Equal(t, 1, b.stand().Position, "an away waiter keeps its place")
		a.leave(room.Completed)
		require.Equal(t, room.Locked, c.stand().Status, "and is passed over")
		require.Equal(t, 1, b.stand().Position)
		b.here(time.Minute)
		c.leave(room.Completed)
		require.Equal(t, room.Locked, b.stand().Status, "back, it is first again")
	})
}

func TestLockStaysFreeWhileAllWaitersAreAwayAndGoesToTheFirstBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{AwayAfter: 10 * time.Millisecond})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		b.join()
		b.here(0)
		passUntil(t, rdb, b.stand().Now+11)
		a.leave(room.Cancelled)
		require.Nil(t, b.stand().Lease)
		b.here(time.Second)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

func TestNewcomerIsGrantedWhileThoseAheadAreAway(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{AwayAfter: 10 * time.Millisecond})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		b.join()
		b.here(0)
		passUntil(t, rdb, b.stand().Now+11)
		a.leave(room.Cancelled)
		st, err := e.Join(t.Context(), integration,
			room.JoinRequest{Session: room.NewSession(), Seller: "c", NoWait: true})
		require.NoError(t, err)
		require.Equal(t, room.Locked, st.Status)
		require.Equal(t, int64(3), st.Ticket)
	})
}

func TestAwayForTooLongIsDropped(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{AwayAfter: 10 * time.Millisecond, DropAfter: 15 * time.Millisecond})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		b.join()
		b.here(0)
		gone := b.stand().Now
		passUntil(t, rdb, gone+26)
		b.here(time.Second) // too late: it was gone for both times together
		st := b.stand()
		require.Equal(t, room.Ended, st.Status)
		require.Equal(t, room.Dropped, st.Outcome)
	})
}

func TestSessionWithoutASocketIsNeverAway(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{AwayAfter: time.Millisecond, DropAfter: time.Millisecond})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		joined := b.join()
		passUntil(t, rdb, joined.Now+10)
		require.Equal(t, 1, b.stand().Position)
		a.leave(room.Completed)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

// A replica is killed with all its sockets. One script marks a limited number of waiters away, and the sweep
// calls the next script at once.
func TestOneLookOfTheSweepFindsAllAwayWaiters(t *testing.T) { onRedis(t, oneLookFindsAll) }

func oneLookFindsAll(t *testing.T, rdb redis.UniversalClient) {
	const waiters = 450
	e := room.New(rdb, room.Config{AwayAfter: time.Millisecond})
	newSeller(t, e, "holder").join()
	ids := make([]string, waiters)
	for i := range ids {
		s := newSeller(t, e, fmt.Sprint("s", i))
		s.join()
		ids[i] = s.session
	}
	view, err := e.Seen(t.Context(), integration, 0, nil, ids)
	require.NoError(t, err)
	passUntil(t, rdb, view.Now+3)
	away := make(chan int64, 100)
	sweep(t, e, func(room.ID, room.Checked) {
		away <- rdb.ZCard(context.Background(), "{integration}:away").Val()
	})
	require.Equal(t, int64(waiters), <-away)
}

// While Redis is away no replica can record which sessions are connected, so no session counts as gone.
// Replicas then get time to record their sessions. After that, a session which none recorded counts as gone
// since it was last connected.
func TestOutageOfTheStoreMakesNoSessionAway(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	now := time.Now()
	pass := func(d time.Duration) { now = now.Add(d); embedded.SetTime(now) }
	pass(0)
	e := room.New(rdb, room.Config{Lease: 10 * time.Minute})
	a, b, c, d := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c"), newSeller(t, e, "d")
	for _, s := range []seller{a, b, c, d} {
		s.join()
	}
	for _, s := range []seller{b, c, d} {
		s.here(time.Second)
	}
	pass(8 * time.Minute) // longer than DropAfter
	embedded.SetError("LOADING Redis is loading the dataset in memory")
	_, err := e.Expire(t.Context(), integration)
	require.Error(t, err)
	embedded.SetError("")
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status,
		"a session present before the outage is not passed over")
	d.here(time.Second)
	pass(4 * time.Second)
	d.here(time.Second)
	b.leave(room.Completed)
	require.Equal(t, room.Dropped, c.stand().Outcome, "no replica has vouched for it since")
	require.Equal(t, room.Locked, d.stand().Status)
}
