package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// Only the replica's own timer can act here: there is no sweep, no notification and no heartbeat.
func TestUnclaimedTurnIsTheNextSellersAndItsHolderIsNotified(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.StartWith(t, servers["without notifications"]).Client(),
		room.Config{ClaimWithin: 3 * time.Second}, hub.Config{Beat: time.Hour})
	ids := sessions(3)
	a, b, c := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])
	join(t, r.Engine, ids[0])
	require.Nil(t, a.untilStatus(room.Locked).ClaimBy, "a newcomer in a free room is there")
	for _, id := range ids[1:] {
		join(t, r.Engine, id)
	}
	c.untilStatus(room.Waiting)
	leave(t, r.Engine, ids[0], room.Completed)
	turn := b.until("its turn, to be claimed",
		func(st state) bool { return st.Status == "locked" && st.ClaimBy != nil })
	st := b.until("unclaimed", func(st state) bool { return st.Unclaimed })
	require.Equal(t, "waiting", st.Status)
	require.Equal(t, *turn.Ticket, *st.Ticket)
	require.Equal(t, int64(1), *st.QueuePosition)
	require.Nil(t, st.ClaimBy)
	require.Nil(t, st.Fence)
	next := c.until("its turn, to be claimed",
		func(st state) bool { return st.Status == "locked" && st.ClaimBy != nil })
	require.GreaterOrEqual(t, next.Version, st.Version)
	_, err := r.Engine.ClaimTurn(t.Context(), lobby, room.ClaimRequest{Session: ids[2], Fence: *next.Fence})
	require.NoError(t, err)
	claimed := c.until("claimed", func(st state) bool {
		return st.Status == "locked" &&
			st.Version > next.Version && st.ClaimBy == nil
	})
	require.Equal(t, *next.Fence, *claimed.Fence)
	join(t, r.Engine, ids[1])
	back := b.until("back", func(x state) bool {
		return x.Version > st.Version && x.Status == "waiting" &&
			!x.Unclaimed
	})
	require.Equal(t, int64(1), *back.QueuePosition)
	leave(t, r.Engine, ids[2], room.Completed)
	b.until("its turn again", func(x state) bool { return x.Status == "locked" && x.Version > back.Version })
	b.until("dropped, the second time", func(x state) bool {
		return x.Status == "ended" &&
			*x.Outcome == "dropped"
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.raw {
		require.NotContains(t, text, `"unclaimed":false`)
	}
}

// The replica that granted the lease is gone, and no seller is connected to another: a sweeping replica
// grants the lock to the next waiter.
func TestUnclaimedTurnIsHandedOnAlsoWithoutAConnectedSeller(t *testing.T) {
	t.Parallel()
	rdb := redistest.StartWith(t, servers["without notifications"]).Client()
	r := start(t, rdb, room.Config{ClaimWithin: 200 * time.Millisecond}, hub.Config{})
	ids := sessions(3)
	b := r.dial(ids[1])
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	b.untilStatus(room.Waiting)
	untilHere(t, rdb, ids[1])
	turn := leave(t, r.Engine, ids[0], room.Completed).Lease
	require.EqualValues(t, 2, turn.Ticket)
	require.NotZero(t, turn.ClaimBy)
	r.end()
	other := room.New(rdb, room.Config{ClaimWithin: 200 * time.Millisecond})
	ctx, stop := context.WithCancel(t.Context())
	var sweeping sync.WaitGroup
	sweeping.Go(func() { _ = other.Sweep(ctx, nil, func(error) {}) })
	t.Cleanup(func() { stop(); sweeping.Wait() })
	testproc.Until(t, within, func() error {
		if holder := rdb.Get(ctx, room.LockKey(lobby)).Val(); !strings.Contains(holder, ids[2]) {
			return fmt.Errorf("the lock is held by %q", holder)
		}
		return nil
	})
}
