package hub_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// stir makes n changes (joins, leaves and actions of support), and calls cut in between.
func stir(t testing.TB, e *room.Engine, ids []string, n int, cut func()) {
	ctx := context.Background()
	for i := range n {
		id := ids[rand.IntN(len(ids))]
		st, err := e.Stand(ctx, lobby, id)
		require.NoError(t, err)
		switch waits := st.Status == room.Waiting; {
		case i%17 == 3:
			_, err = e.Pause(ctx, lobby, "", i%2 == 0, room.Action{})
		case waits && i%5 < 2:
			_, err = e.Move(ctx, lobby, "", st.Ticket, 1+rand.IntN(st.Waiting), room.Action{})
		case waits && i%5 == 3:
			_, err = e.Remove(ctx, lobby, "", st.Ticket, room.Action{})
		case waits || st.Status == room.Locked:
			_, err = e.Leave(ctx, lobby, room.LeaveRequest{Session: id, Outcome: room.Completed})
		default:
			join(t, e, id)
		}
		// a short lease may have ended meanwhile, so that the call is refused
		require.False(t, err != nil && !room.Refused(err), err)
		if i%50 == 25 {
			cut()
		}
	}
}

// cuts are the failures of a subscription to test; direct changes the room past the proxy.
func cuts(t testing.TB, server *redistest.Server, direct *room.Engine) map[string]func(*redistest.Proxy) {
	return map[string]func(*redistest.Proxy){
		"killed by the server": func(*redistest.Proxy) {
			require.NoError(t, server.Client().Do(context.Background(), "CLIENT", "KILL", "TYPE",
				"pubsub").Err())
		},
		"connections cut": func(p *redistest.Proxy) { p.CutAll() },
		"packets lost for a while": func(p *redistest.Proxy) {
			p.Blackhole(redistest.ToClient)
			stir(t, direct, sessions(3), 6, func() {})
			p.Heal()
		},
	}
}

// inTurn returns a function that makes the next of the failures at each call.
func inTurn(all map[string]func(*redistest.Proxy)) func(*redistest.Proxy) {
	names, n := slices.Sorted(maps.Keys(all)), 0
	return func(p *redistest.Proxy) {
		all[names[n%len(names)]](p)
		n++
	}
}

func TestEverySocketShowsTheTrueStateAfterPubSubWasCut(t *testing.T) {
	server := redistest.Start(t)
	direct := room.New(server.Client(), room.Config{})
	requireTrueStates(t, server, direct, 200, inTurn(cuts(t, server, direct)))
}

// requireTrueStates makes n changes while the sockets' replicas lose published events, and requires that all
// sockets then have the engine's state.
func requireTrueStates(t *testing.T, server *redistest.Server, direct *room.Engine, n int,
	cut func(*redistest.Proxy)) {
	proxy := server.Proxy()
	one, two := start(t, proxy.Client(), room.Config{}, hub.Config{}), start(t, proxy.Client(), room.Config{},
		hub.Config{})
	ids := sessions(40)
	var sockets []*socket
	for i, id := range ids {
		sockets = append(sockets, []*replica{one, two}[i%2].dial(id))
	}
	stir(t, direct, ids, n, func() { cut(proxy) })
	untilSettled(t, direct, lobby, sockets...)
}

// The subscription stays connected and delivers nothing. The next beat's answer shows that the mirror is
// behind.
func TestASilentSubscriptionIsNoticed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	silent := server.Proxy()
	rdb := splitClient{server.Client(), silent.Client()}
	r := start(t, rdb, room.Config{}, hub.Config{})
	ids := sessions(3)
	sockets := []*socket{r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])}
	for _, s := range sockets {
		s.untilStatus(room.Idle)
	}
	silent.Blackhole(redistest.ToClient)
	stir(t, r.Engine, ids, 20, func() {})
	untilSettled(t, r.Engine, lobby, sockets...)
	silent.Refuse()
	silent.CutAll()
	stir(t, r.Engine, ids, 20, func() {})
	untilSettled(t, r.Engine, lobby, sockets...)
	testproc.Until(t, within, func() error {
		if r.Hub.Fresh() {
			return errors.New("still taken for alive")
		}
		return nil
	})
	silent.Heal()
	untilFresh(t, r.Hub)
	stir(t, r.Engine, ids, 20, func() {})
	untilSettled(t, r.Engine, lobby, sockets...)
}

// splitClient is a client whose subscriptions use another connection than its commands.
type splitClient struct {
	*redis.Client
	other *redis.Client
}

func (c splitClient) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	return c.other.Subscribe(ctx, channels...)
}

func TestSellersWithAPlaceAreNotifiedWhenTheStoreLosesIt(t *testing.T) {
	server := redistest.Start(t)
	r := start(t, server.Client(), room.Config{}, hub.Config{})
	ids := sessions(4)
	holder, waiter, done, idle := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2]), r.dial(ids[3])
	join(t, r.Engine, ids[0])
	join(t, r.Engine, ids[1])
	join(t, r.Engine, ids[2])
	leave(t, r.Engine, ids[2], room.Cancelled)
	before := done.untilOutcome(room.Cancelled)
	require.NoError(t, server.Client().FlushAll(t.Context()).Err())

	st := waiter.untilOutcome(room.Lost)
	require.Equal(t, "ended", st.Status)
	require.Equal(t, int64(2), *st.Ticket)
	require.Greater(t, st.Epoch, before.Epoch, "a new epoch at once, also when nobody joins")
	holder.untilOutcome(room.Lost)

	again := join(t, r.Engine, ids[1])
	require.Equal(t, int64(4), again.Ticket, "above those that were given")
	require.Equal(t, room.Waiting, again.Status, "until the observed lease is over")
	_, err := r.Engine.Release(t.Context(), "integration", "", again.Lease.Fence,
		room.Action{Who: "kim", Reason: "the store lost data"})
	require.NoError(t, err)
	again = join(t, r.Engine, ids[1])
	require.Equal(t, again.Fence, *waiter.until("the lock in the new epoch",
		func(st state) bool { return st.Epoch == again.Epoch && st.Status == "locked" }).Fence)
	for s, status := range map[*socket]string{holder: "ended lost", done: "ended cancelled", idle: "idle "} {
		s.until(status+" in the new epoch", func(st state) bool {
			return st.Epoch == again.Epoch &&
				st.Status+" "+outcome(st) == status
		})
	}
}

// A failover brings back an older state: the same epoch with a lower version.
func TestAStoreThatWentBackGetsANewEpoch(t *testing.T) {
	server := redistest.Start(t)
	rdb := server.Client()
	r := start(t, rdb, room.Config{}, hub.Config{})
	ids := sessions(3)
	a, b, c := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])
	join(t, r.Engine, ids[0])
	dump := map[string]string{}
	keys, err := rdb.Keys(t.Context(), "{integration}:*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		dump[key] = rdb.Dump(t.Context(), key).Val()
	}
	join(t, r.Engine, ids[1])
	before := join(t, r.Engine, ids[2])
	c.untilPosition(2)
	_, err = rdb.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
		tx.FlushAll(t.Context())
		for key, value := range dump {
			tx.Restore(t.Context(), key, 0, value)
		}
		return nil
	})
	require.NoError(t, err)
	for _, s := range []*socket{a, b, c} {
		require.Greater(t, s.untilOutcome(room.Lost).Epoch, before.Epoch)
	}
}

func TestOneReplicaHearsOfAnother(t *testing.T) {
	rdb := redistest.Start(t).Client()
	one, two := start(t, rdb, room.Config{}, hub.Config{}), start(t, rdb, room.Config{}, hub.Config{})
	ids := sessions(30)
	var sockets []*socket
	for i, id := range ids {
		sockets = append(sockets, []*replica{one, two}[i%2].dial(id))
		join(t, one.Engine, id)
	}
	for i, id := range ids {
		require.Equal(t, int64(i+1), *sockets[i].untilStatus(room.Locked).Ticket)
		leave(t, two.Engine, id, room.Completed)
	}
	untilSettled(t, one.Engine, lobby, sockets...)
}
