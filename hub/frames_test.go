package hub_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestFramesFollowAPlaceFromIdleToEnded(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{Lease: time.Minute}, hub.Config{})
	ids := sessions(2)
	spectator, a, b := r.dial(""), r.dial(ids[0]), r.dial(ids[1])

	st := a.untilStatus(room.Idle)
	require.Equal(t, "integration", st.Room)
	require.Zero(t, st.Version)
	require.Nil(t, st.Ticket)
	require.Equal(t, int64(0), *st.EstimatedWait)
	require.Nil(t, st.LeaseExpiresAt)

	first := join(t, r.Engine, ids[0])
	st = a.untilStatus(room.Locked)
	require.Equal(t, first.Fence, *st.Fence)
	require.Equal(t, first.Lease.ExpiresAt, *st.LeaseExpiresAt)
	require.Equal(t, first.Version, st.Version)
	require.Equal(t, first.Epoch, st.Epoch)
	require.Nil(t, st.EstimatedWait)
	require.Nil(t, st.QueuePosition)

	join(t, r.Engine, ids[1])
	st = b.untilStatus(room.Waiting)
	require.Equal(t, int64(1), *st.QueuePosition)
	require.Equal(t, int64(1), st.QueueLength)
	require.Equal(t, int64(2), *st.Ticket)
	require.Nil(t, st.Fence)
	require.Equal(t, left(st), *st.MaximumWait)
	require.Equal(t, first.Lease.ExpiresAt, *st.LeaseExpiresAt)
	st = spectator.until("the newcomer's wait", func(st state) bool { return st.QueueLength == 1 })
	require.Equal(t, "idle", st.Status)
	require.Equal(t, left(st)+60, *st.MaximumWait)

	leave(t, r.Engine, ids[0], room.Completed)
	st = a.untilOutcome(room.Completed)
	require.Equal(t, "ended", st.Status)
	require.Equal(t, int64(1), *st.Ticket)
	require.Nil(t, st.Fence)
	require.NotNil(t, st.EstimatedWait)
	b.untilStatus(room.Locked)
	untilSettled(t, r.Engine, lobby, a, b)
}

func TestFrameReckonsWithTheLeaseOfItsRoomAsItIsNow(t *testing.T) {
	var own atomic.Int64
	own.Store(int64(20 * time.Second))
	r := start(t, redistest.Start(t).Client(),
		room.Config{Lease: time.Minute, Terms: func(id room.ID) room.Terms {
			if id != lobby {
				return room.Terms{}
			}
			return room.Terms{Lease: time.Duration(own.Load())}
		}}, hub.Config{})
	ids := sessions(3)
	spectator := r.dial("")
	join(t, r.Engine, ids[0])
	join(t, r.Engine, ids[1])
	st := spectator.until("one waits", func(st state) bool { return st.QueueLength == 1 })
	require.Equal(t, left(st)+20, *st.MaximumWait)
	own.Store(int64(10 * time.Second))
	join(t, r.Engine, ids[2])
	st = spectator.until("two wait", func(st state) bool { return st.QueueLength == 2 })
	require.Equal(t, left(st)+20, *st.MaximumWait, "the lease that is live, and two shorter ones")
}

// left returns the seconds that the lease had left when the frame was written, rounded up.
func left(st state) int64 { return (*st.LeaseExpiresAt - st.ServerTime + 999) / 1000 }
