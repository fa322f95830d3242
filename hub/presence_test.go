package hub_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// awayAfter is so long that a replica on a busy machine is not taken for dead, which happens after a quarter
// of it.
const awayAfter = 4 * time.Second

// untilHere waits until Redis has the session as present.
func untilHere(t testing.TB, rdb redis.UniversalClient, session string) {
	testproc.Until(t, within, func() error {
		return rdb.ZScore(context.Background(), "{integration}:here", session).Err()
	})
}

// untilAway waits, for seconds, until the engine has the session as away, or as present.
func untilAway(t testing.TB, r *replica, session string, away bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	testproc.Until(t, within, func() error {
		<-tick.C
		_, err := r.Engine.Expire(context.Background(), lobby) // stands in for the sweep
		if err == nil {
			err = r.Redis.ZScore(context.Background(), "{integration}:away", session).Err()
		}
		if !away {
			if err == nil {
				return errors.New("still away")
			}
			err = nil
		}
		return err
	})
}

func TestAWaiterWhoseBrowserIsGoneIsPassedOverUntilItIsBack(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{AwayAfter: awayAfter},
		hub.Config{Beat: 100 * time.Millisecond})
	ids := sessions(4)
	holder, gone, stays := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])
	for _, id := range ids { // the last one never opens a socket
		join(t, r.Engine, id)
	}
	gone.untilStatus(room.Waiting)
	stays.untilStatus(room.Waiting)
	untilHere(t, r.Redis, ids[1])
	require.NoError(t, gone.ws.CloseNow())
	untilAway(t, r, ids[1], true)

	leave(t, r.Engine, ids[0], room.Completed)
	holder.untilOutcome(room.Completed)
	stays.untilStatus(room.Locked)
	back := r.dial(ids[1])
	back.untilPosition(1)
	untilAway(t, r, ids[1], false)
	leave(t, r.Engine, ids[2], room.Completed)
	back.untilStatus(room.Locked)
	leave(t, r.Engine, ids[1], room.Completed)
	st, err := r.Engine.Stand(context.Background(), lobby, ids[3])
	require.NoError(t, err)
	require.Equal(t, room.Locked, st.Status, "one that never had a socket is never away")
}

func TestASessionWithASocketElsewhereIsNotAway(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	cfg, rules := hub.Config{Beat: 100 * time.Millisecond}, room.Config{AwayAfter: awayAfter}
	one, two := start(t, rdb, rules, cfg), start(t, rdb, rules, cfg)
	ids := sessions(3)
	join(t, one.Engine, ids[0])
	join(t, one.Engine, ids[1])
	here, there := one.dial(ids[1]), two.dial(ids[1])
	here.untilStatus(room.Waiting)
	there.untilStatus(room.Waiting)
	untilHere(t, rdb, ids[1])
	// Another waiter is away as soon as this one could be.
	join(t, one.Engine, ids[2])
	witness := one.dial(ids[2])
	witness.untilStatus(room.Waiting)
	untilHere(t, rdb, ids[2])
	require.NoError(t, here.ws.CloseNow())
	require.NoError(t, witness.ws.CloseNow())
	untilAway(t, one, ids[2], true)
	require.ErrorIs(t, rdb.ZScore(t.Context(), "{integration}:away", ids[1]).Err(), redis.Nil)
	leave(t, one.Engine, ids[0], room.Completed)
	there.untilStatus(room.Locked)
}

func TestAReplicaThatDiesLeavesItsWaitersAwayByThemselves(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t)
	rules := room.Config{AwayAfter: awayAfter}
	one := start(t, rdb.Client(), rules, hub.Config{Beat: 100 * time.Millisecond})
	proxy := rdb.Proxy()
	two := start(t, proxy.Client(), rules, hub.Config{Beat: 100 * time.Millisecond})
	ids := sessions(2)
	join(t, one.Engine, ids[0])
	join(t, one.Engine, ids[1])
	two.dial(ids[1]).untilStatus(room.Waiting)
	untilHere(t, rdb.Client(), ids[1])
	sweep(t, one)
	proxy.Refuse()
	proxy.CutAll()
	untilAway(t, one, ids[1], true)
	proxy.Heal() // its socket was there all the time, and is recorded again
	untilAway(t, one, ids[1], false)
}

// sweep runs a replica's sweep until the test ends.
func sweep(t testing.TB, r *replica) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = r.Engine.Sweep(ctx, nil, func(error) {}) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// The browser joins and closes at once: the replica may learn that the session waits after its socket has
// closed.
func TestSellerThatJoinsAndClosesAtOnceIsGone(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Beat: 100 * time.Millisecond})
	ids := sessions(42)
	join(t, r.Engine, ids[0])
	for _, id := range ids[1:41] {
		s := r.dial(id)
		s.untilStatus(room.Idle)
		join(t, r.Engine, id)
		require.NoError(t, s.ws.CloseNow())
	}
	for _, id := range ids[1:41] {
		untilGone(t, r.Redis, id)
	}
}
