package room_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// frozenShard is a Redis Cluster without replicas. One of its masters, which has no part of the index, is
// about to hang.
type frozenShard struct {
	*redistest.Cluster
	frozen  *redistest.Server
	hanging []room.ID // rooms of that master
	whole   []room.ID // rooms of the others
}

func startFrozenShard(t *testing.T, hanging, whole int) frozenShard {
	t.Helper()
	f := frozenShard{Cluster: redistest.StartClusterWith(t, redistest.Config{Args: []string{
		"--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000",
		"--enable-debug-command", "local"}})}
	index, err := f.Owner("{waitroom}:due")
	require.NoError(t, err)
	for i := 0; len(f.hanging) < hanging || len(f.whole) < whole; i++ {
		id := room.ID(fmt.Sprint("r", i))
		owner, err := f.Owner(room.NamesOf(nil, "").Lock(id))
		require.NoError(t, err)
		switch {
		case f.frozen == nil && owner != index:
			f.frozen = owner
			fallthrough
		case owner == f.frozen && len(f.hanging) < hanging:
			f.hanging = append(f.hanging, id)
		case owner != f.frozen && len(f.whole) < whole:
			f.whole = append(f.whole, id)
		}
	}
	return f
}

// A master that hangs holds up no room of another one.
func TestSweepHandsOffWhileAnotherMasterHangs(t *testing.T) {
	shard := startFrozenShard(t, 3, 1)
	const hangs = 20 * time.Second // until a call of the master that hangs fails
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: shard.Addrs(), ReadTimeout: hangs,
		MaxRetries: -1})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	e := room.New(rdb, room.Config{Recovery: -1})
	join := func(id room.ID, session string) {
		_, err := e.Join(t.Context(), id, room.JoinRequest{Session: session, Seller: session,
			Lease: time.Second})
		require.NoError(t, err)
	}
	next := room.NewSession()
	for _, id := range append(shard.hanging, shard.whole[0]) {
		join(id, room.NewSession())
	}
	join(shard.whole[0], next)
	shard.frozen.Pause()

	ctx, cancel := context.WithCancel(t.Context())
	looked, failed, done := make(chan room.ID, 1000), make(chan error, 1000), make(chan error, 1)
	go func() {
		done <- e.Sweep(ctx, func(id room.ID, _ room.Checked) { looked <- id }, func(err error) { failed <- err })
	}()
	t.Cleanup(func() {
		shard.frozen.Resume() // the sweep waits for its calls
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
	for {
		select {
		case err := <-failed:
			require.NoError(t, err, "the sweep waited for the master that hangs")
		case id := <-looked:
			require.Equal(t, shard.whole[0], id)
		}
		st, err := e.Stand(t.Context(), shard.whole[0], next)
		require.NoError(t, err)
		if st.Status == room.Locked {
			return
		}
	}
}

func TestWorkOverRoomsIsDoneExceptThatOfAMasterThatHangs(t *testing.T) {
	shard := startFrozenShard(t, 40, 40)
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: shard.Addrs(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	e := room.New(rdb, room.Config{Recovery: -1})
	all := append(shard.hanging, shard.whole...)
	journals := make([]room.Journal, len(all))
	for i, id := range all {
		journals[i] = room.Journal{Room: id, Entries: []room.Entry{{ID: "1-0"}}}
	}
	var calls atomic.Int64
	glance := func(ctx context.Context, id room.ID) error {
		calls.Add(1)
		_, err := e.Glance(ctx, id)
		return err
	}
	require.Empty(t, e.EachRoom(t.Context(), all, time.Minute, glance))
	require.EqualValues(t, len(all), calls.Swap(0))

	shard.frozen.Pause()
	failed := e.EachRoom(t.Context(), all, 500*time.Millisecond, glance)
	require.Len(t, failed, len(shard.hanging))
	for _, id := range shard.hanging {
		require.ErrorIs(t, failed[id], room.ErrStore)
	}
	require.Less(t, calls.Load(), int64(len(all)), "a master that hangs gets no call for each of its rooms")
	require.Eventually(t, func() bool { // journals are read in one round trip to each master
		silent := 0
		for _, j := range e.ReadJournals(t.Context(), all, 1) {
			if j.Err != nil {
				require.Contains(t, shard.hanging, j.Room)
				silent++
			}
		}
		return silent == len(shard.hanging)
	}, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { // and trimmed so
		silent := 0
		for i, err := range e.TrimJournals(t.Context(), journals) {
			if err == nil {
				require.Contains(t, shard.whole, all[i])
			} else if strings.Contains(err.Error(), "did not answer a moment ago") {
				silent++
			}
		}
		return silent == len(shard.hanging)
	}, time.Minute, time.Millisecond)

	shard.frozen.Resume()
	require.Eventually(t, func() bool {
		return len(e.EachRoom(t.Context(), all, time.Minute, glance)) == 0
	}, time.Minute, 10*time.Millisecond)
}

func TestNewHistoryOfAMasterIsNoticedWhileAnotherOneHangs(t *testing.T) {
	shard := startFrozenShard(t, 1, 1)
	whole, err := shard.Owner(room.NamesOf(nil, "").Lock(shard.whole[0]))
	require.NoError(t, err)
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: shard.Addrs(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	e := room.New(rdb, room.Config{Recovery: -1})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Sweep(ctx, nil, func(error) {}) }()
	t.Cleanup(func() {
		shard.frozen.Resume()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
	renew := func(then string) {
		had := e.Histories()
		require.Eventually(t, func() bool { // the first ones are known by then
			require.NoError(t, whole.Client().Do(t.Context(), "DEBUG", "CHANGE-REPL-ID").Err())
			return e.Histories() > had
		}, time.Minute, 100*time.Millisecond, then)
	}
	renew("all masters answer")
	shard.frozen.Pause()
	renew("one hangs")
}

// A silent master is tried with one room, after 250 ms, 500 ms and then once a second.
func TestSilentMasterIsTriedAgainWithOneRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nothing calls it
		defer func() { require.NoError(t, rdb.Close()) }()
		e := room.New(rdb, room.Config{})
		rooms := make([]room.ID, 100)
		for i := range rooms {
			rooms[i] = room.ID(fmt.Sprint("r", i))
		}
		var calls atomic.Int64
		hangs := true
		call := func() (failed map[room.ID]error) {
			return e.EachRoom(t.Context(), rooms, 100*time.Millisecond, func(ctx context.Context, _ room.ID) error {
				calls.Add(1)
				if !hangs {
					return nil
				}
				<-ctx.Done()
				return fmt.Errorf("%w: %w", room.ErrStore, ctx.Err())
			})
		}
		require.Len(t, call(), len(rooms))
		require.EqualValues(t, 16, calls.Swap(0), "at most 16 rooms of a master at the same time")
		for _, wait := range []time.Duration{250, 500, 1000, 1000} {
			time.Sleep(wait*time.Millisecond - 1)
			require.Len(t, call(), len(rooms))
			require.Zero(t, calls.Load())
			time.Sleep(time.Nanosecond)
			require.Len(t, call(), len(rooms))
			require.EqualValues(t, 1, calls.Swap(0))
		}
		time.Sleep(time.Second)
		hangs = false
		require.Empty(t, call())
		require.EqualValues(t, len(rooms), calls.Load())
	})
}

// An answer that is an error concerns its room alone, as does an error of another store.
func TestRoomThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	rdb := redistest.Start(t).Client()
	e := room.New(rdb, room.Config{})
	require.NoError(t, rdb.Set(t.Context(), "{broken}:state", "x", 0).Err())
	elsewhere := errors.New("another store")
	failed := e.EachRoom(t.Context(), []room.ID{"whole", "broken", "other"}, time.Minute,
		func(ctx context.Context, id room.ID) error {
			if id == "other" {
				return fmt.Errorf("%w: %w", elsewhere, context.DeadlineExceeded)
			}
			_, err := e.Glance(ctx, id)
			return err
		})
	require.Len(t, failed, 2)
	require.ErrorIs(t, failed["broken"], room.ErrStore)
	require.ErrorIs(t, failed["other"], elsewhere)
	require.Empty(t, e.EachRoom(t.Context(), []room.ID{"whole"}, time.Minute,
		func(ctx context.Context, id room.ID) error {
			_, err := e.Glance(ctx, id)
			return err
		}))
}
