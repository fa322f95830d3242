package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// The answer to POST, the status, its "me" and the socket give the same estimate.
func TestEveryWayGivesTheSameEstimate(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		a, b, c := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c")
		a.join()
		a.leave("")
		redistest.SetState(t, r.store.Client, "integration", "hold", 40*time.Second, "spread", 30*time.Second,
			"holds", 9)
		a.join()
		view := func() room.View {
			st, err := r.engine.Stand(t.Context(), "integration", "")
			require.NoError(t, err)
			return st.View
		}
		redistest.SetState(t, r.store.Client, "integration", "granted", view().Lease.GrantedAt-10_000)
		estimate := func(v room.View, position int, now int64) int64 {
			w, ok := v.WaitsAt(position, now, 2*time.Minute)
			require.True(t, ok)
			return room.Seconds(w.Estimated)
		}

		before := view()
		promised := b.join().number("estimated_wait")
		after := view()
		require.LessOrEqual(t, promised, estimate(before, 1, before.Now))
		require.GreaterOrEqual(t, promised, estimate(after, 1, after.Now))
		require.InDelta(t, 28.7, promised, 1.5, "9/16 of ln 2 average holds, and 7/16 of what is left of this one")
		require.EqualValues(t, 40_000, view().Hold.Milliseconds())

		status := b.status()
		now := status.number("server_time")
		require.Equal(t, estimate(after, 2, now), status.number("estimated_wait"), "a newcomer's")
		require.Equal(t, estimate(after, 1, now), status.me().number("estimated_wait"))

		conn := open(t, r.URL(), "X-Session-ID", b.session)
		frame := until(t, conn, "waiting")
		require.EqualValues(t, estimate(after, 1, int64(frame["server_time"].(float64))), frame["estimated_wait"])
		c.join() // the next frame is of an event, not of a snapshot
		frame = until(t, conn, "waiting")
		for frame["queue_length"] != 2.0 {
			frame = until(t, conn, "waiting")
		}
		require.EqualValues(t, estimate(after, 1, int64(frame["server_time"].(float64))), frame["estimated_wait"])
	})
}
