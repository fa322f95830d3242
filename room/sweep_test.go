package room_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// sweep runs an engine's sweep until the test ends.
func sweep(t *testing.T, e *room.Engine, looked func(room.ID, room.Checked)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- e.Sweep(ctx, looked, func(err error) { t.Log(err) })
	}()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestSweepHandsOffWithoutAnyOtherLook(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		granting := room.New(rdb, room.Config{}) // as if it had died: no call after both have joined
		a, b := newSeller(t, granting, "a"), newSeller(t, granting, "b")
		watch := rdb.Subscribe(t.Context(), room.NamesOf(rdb, "").Events(integration))
		t.Cleanup(func() { require.NoError(t, watch.Close()) })
		_, err := watch.Receive(t.Context())
		require.NoError(t, err)
		a.joinFor(500 * time.Millisecond)
		b.join()

		sweep(t, room.New(rdb, room.Config{}), func(room.ID, room.Checked) {})
		var event room.Event
		for len(event.Ended) == 0 {
			message, err := watch.ReceiveMessage(t.Context())
			require.NoError(t, err)
			event, err = room.ParseEvent(message.Payload)
			require.NoError(t, err)
		}
		require.Equal(t, room.Expired, event.Ended[0].Outcome)
		require.Equal(t, b.session, event.Lease.Session)
		t.Logf("handed off %d ms after the end of the lease", event.Now-(event.Lease.GrantedAt))
	})
}

// Of several replicas that sweep, only one looks at a due room, and each look is at a room that is due.
func TestOneReplicaLooksAtADueRoom(t *testing.T) {
	store := redistest.StartEmbedded(t)
	store.SetTime(time.Now()) // the clock stands still, so a slow look never makes a replica count as dead
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	indexed(t, rdb)
	const rooms, replicas = 40, 3
	var mu sync.Mutex
	looks := map[room.ID]int{}
	all := make(chan struct{})
	join := room.New(rdb, room.Config{LookEvery: time.Hour, Recovery: -1})
	for i := range rooms {
		_, err := join.Join(t.Context(), room.ID(fmt.Sprint("r", i)),
			room.JoinRequest{Session: room.NewSession(), Seller: "s"})
		require.NoError(t, err)
	}
	for range replicas {
		sweep(t, room.New(rdb, room.Config{LookEvery: time.Hour, Recovery: -1}),
			func(id room.ID, _ room.Checked) {
				mu.Lock()
				defer mu.Unlock()
				looks[id]++
				if len(looks) == rooms && looks[id] == 1 {
					close(all)
				}
			})
	}
	<-all
	mu.Lock()
	defer mu.Unlock()
	for id, n := range looks {
		require.Equal(t, 1, n, "room %s", id)
	}
}

// indexed puts all rooms into a new index. A sweep may look at a room twice meanwhile.
func indexed(t *testing.T, rdb *redis.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	swept := make(chan error, 1)
	go func() { swept <- room.New(rdb, room.Config{}).Sweep(ctx, nil, func(err error) { t.Log(err) }) }()
	require.Eventually(t, func() bool {
		return rdb.Exists(t.Context(), "{waitroom}:whole").Val() == 1
	}, time.Minute, 5*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-swept, context.Canceled)
}

func TestClaimedRoomIsDueAgainWhenTheClaimerDies(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(server.Client(), room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	a.joinFor(30 * time.Millisecond)
	b.join()
	dying := room.New(proxy.Client(), room.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	claimed := proxy.DropNextReply(redistest.Command("EVALSHA"))
	died := make(chan error, 1)
	go func() { died <- dying.Sweep(ctx, nil, func(error) {}) }()
	<-claimed
	cancel()
	require.True(t, errors.Is(<-died, context.Canceled))
	granted := make(chan int64, 100)
	sweep(t, e, func(_ room.ID, c room.Checked) {
		if c.Lease != nil {
			granted <- c.Lease.Ticket
		}
	})
	for ticket := range granted {
		if ticket == 2 {
			return
		}
	}
}

func TestIdleRoomGoesToSleepAndItsKeysGoAway(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	embedded.SetTime(start)
	e := room.New(rdb, room.Config{Retention: time.Hour})
	a := newSeller(t, e, "a")
	a.join()
	found, err := e.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.True(t, found.Active)
	a.leave(room.Completed)
	found, err = e.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.True(t, found.Asleep)
	require.Positive(t, rdb.PTTL(t.Context(), "{integration}:state").Val())

	embedded.SetTime(start.Add(time.Second))
	first := a.join()
	require.Negative(t, rdb.PTTL(t.Context(), "{integration}:state").Val(), "a join wakes it")
	require.Equal(t, int64(2), first.Ticket, "nothing was forgotten")
	a.leave(room.Completed)
	_, err = e.Expire(t.Context(), integration)
	require.NoError(t, err)
	embedded.SetTime(start.Add(2 * time.Hour))
	embedded.FastForward(2 * time.Hour)
	require.Empty(t, rdb.Keys(t.Context(), "{integration}*").Val())
}

// One room that fails does not hold up the others.
func TestSweepGoesOnPastABrokenRoom(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		for _, id := range []room.ID{"a-broken", "b-whole"} {
			_, err := e.Join(t.Context(), id, room.JoinRequest{Session: room.NewSession(), Seller: "s"})
			require.NoError(t, err)
		}
		require.NoError(t, rdb.Set(t.Context(), "{a-broken}:state", "by hand", 0).Err())
		looked := make(chan room.ID, 100)
		sweep(t, e, func(id room.ID, _ room.Checked) { looked <- id })
		require.Equal(t, room.ID("b-whole"), <-looked)
	})
}
