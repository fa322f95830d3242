package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// impatient makes the hub ping the front of the line every 1.3 s and wait 0.8 s for the answer. A busy
// machine needs less than that.
var impatient = room.Config{AwayAfter: awayAfter}

// goDead stops all traffic of a network without closing a connection. It returns Redis's time (unix ms) right
// after that.
func goDead(t testing.TB, n *network, rdb redis.UniversalClient) float64 {
	n.setDead(true)
	now, err := rdb.Time(context.Background()).Result()
	require.NoError(t, err)
	return float64(now.UnixMilli())
}

// score returns a session's score in a sorted set of the room.
func score(t testing.TB, rdb redis.UniversalClient, key, session string) float64 {
	n, err := rdb.ZScore(context.Background(), "{integration}:"+key, session).Result()
	require.NoError(t, err)
	return n
}

// requireSince requires that Redis has a session as gone since its last answer, not since the replica noticed
// its silence, which takes at least 0.8 s.
func requireSince(t testing.TB, rdb redis.UniversalClient, key, session string, dead float64) {
	t.Helper()
	require.LessOrEqual(t, score(t, rdb, key, session), dead+400)
}

func untilGone(t testing.TB, rdb redis.UniversalClient, session string) {
	testproc.Until(t, within, func() error {
		return rdb.ZScore(context.Background(), "{integration}:seen", session).Err()
	})
}

func TestSilentSellerIsPassedOverAndIsFirstAgainWhenItAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), impatient, hub.Config{})
	network, ids := r.network(), sessions(3)
	holder, ghost, next := r.dial(ids[0]), r.through(network).dial(ids[1]), r.dial(ids[2])
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	ghost.untilPosition(1)
	next.untilPosition(2)
	untilHere(t, r.Redis, ids[1])
	dead := goDead(t, network, r.Redis)
	untilAway(t, r, ids[1], true)
	requireSince(t, r.Redis, "away", ids[1], dead)

	leave(t, r.Engine, ids[0], room.Completed)
	holder.untilOutcome(room.Completed)
	next.untilStatus(room.Locked)
	network.setDead(false)
	untilAway(t, r, ids[1], false)
	leave(t, r.Engine, ids[2], room.Completed)
	ghost.untilStatus(room.Locked)
}

func TestOnlyTheHeadOfTheLineIsPingedOftenAndANewcomerThereIsPinged(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), impatient, hub.Config{})
	network, ids := r.network(), sessions(13)
	for _, id := range ids[:12] {
		r.dial(id)
	}
	ghost := r.through(network).dial(ids[12])
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	ghost.untilPosition(12)
	dead := goDead(t, network, r.Redis)
	testproc.Until(t, within, func() error {
		if now := r.Redis.Time(context.Background()).Val().UnixMilli(); float64(now) < dead+
			float64(impatient.AwayAfter.Milliseconds()) {
			return fmt.Errorf("%.0f ms later", float64(now)-dead)
		}
		return nil
	})
	require.NotZero(t, score(t, r.Redis, "here", ids[12]), "no ping was sent")
	for _, id := range ids[1:3] {
		leave(t, r.Engine, id, room.Cancelled)
	}
	untilAway(t, r, ids[12], true)
	requireSince(t, r.Redis, "away", ids[12], dead)
}

// The browser changes networks: its old socket is silent, and its new one is on another replica.
func TestSellerThatAnswersOnAnotherReplicaIsNotAway(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	one, two := start(t, rdb, impatient, hub.Config{}), start(t, rdb, impatient, hub.Config{})
	network, ids := one.network(), sessions(3)
	moved, witness := one.through(network).dial(ids[1]), one.through(network).dial(ids[2])
	for _, id := range ids {
		join(t, one.Engine, id)
	}
	moved.untilStatus(room.Waiting)
	witness.untilStatus(room.Waiting)
	there := two.dial(ids[1])
	there.untilStatus(room.Waiting)
	untilHere(t, rdb, ids[2])
	goDead(t, network, rdb)
	untilAway(t, one, ids[2], true)
	require.ErrorIs(t, rdb.ZScore(t.Context(), "{integration}:away", ids[1]).Err(), redis.Nil)
	leave(t, one.Engine, ids[0], room.Completed)
	there.untilStatus(room.Locked)
}

func TestASocketOverADeadNetworkIsClosedAndWasThereUntilItWasLastHeardOf(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{PingEvery: 2 * time.Second, Registerer: registry})
	network, ids := r.network(), sessions(2)
	ghost := r.through(network).dial(ids[1])
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	ghost.untilStatus(room.Waiting)
	untilHere(t, r.Redis, ids[1])
	dead := goDead(t, network, r.Redis)
	testproc.Until(t, within, func() error {
		if n := counted(t, registry, "waitroom_hub_silent_closes_total"); n != 1 {
			return fmt.Errorf("%v closed", n)
		}
		return nil
	})
	untilGone(t, r.Redis, ids[1])
	requireSince(t, r.Redis, "seen", ids[1], dead)
}

// The script of a frozen tab answers nothing, but its browser still answers pings.
func TestWhoseBrowserAnswersIsThereWhateverItsPageDoes(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), impatient, hub.Config{})
	network, ids := r.network(), sessions(3)
	frozen, witness := r.dial(ids[1]), r.through(network).dial(ids[2]) // neither answers a ping of ours
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	frozen.untilStatus(room.Waiting)
	witness.untilStatus(room.Waiting)
	untilHere(t, r.Redis, ids[2])
	goDead(t, network, r.Redis)
	untilAway(t, r, ids[2], true)
	require.ErrorIs(t, r.Redis.ZScore(t.Context(), "{integration}:away", ids[1]).Err(), redis.Nil)
	leave(t, r.Engine, ids[0], room.Completed)
	frozen.untilStatus(room.Locked)
}
