package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestRoomMayHaveALeaseOfItsOwnThatChangesWhileItIsUsed(t *testing.T) {
	lease := 10 * time.Second
	e := room.New(redistest.Start(t).Client(), room.Config{Lease: time.Minute, Doubt: -1, Terms: func(id room.ID) room.Terms {
		if id == "short" {
			return room.Terms{Lease: lease}
		}
		return room.Terms{}
	}})
	granted := func(id room.ID, session string) time.Duration {
		st, err := e.Join(t.Context(), id, room.JoinRequest{Session: session, Seller: "s"})
		require.NoError(t, err)
		require.Equal(t, e.Terms(id).Lease, st.LeaseLength)
		_, err = e.Leave(t.Context(), id, room.LeaveRequest{Session: session, Outcome: room.Completed})
		require.NoError(t, err)
		return time.Duration(st.Lease.ExpiresAt-st.Lease.GrantedAt) * time.Millisecond
	}
	require.Equal(t, time.Minute, granted("plain", "a"))
	require.Equal(t, 10*time.Second, granted("short", "a"))
	lease = 20 * time.Second
	require.Equal(t, 20*time.Second, granted("short", "b"))
}
