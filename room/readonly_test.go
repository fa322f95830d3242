package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestReadsAreAnsweredWhileTheStoreRefusesWrites(t *testing.T) {
	for setting, value := range map[string]string{"maxmemory": "1", "min-replicas-to-write": "1"} {
		t.Run(setting, func(t *testing.T) {
			redis := redistest.Start(t)
			e := New(redis.Client(), Config{})
			holder, waiter := NewSession(), NewSession()
			held, err := e.Join(t.Context(), "r", JoinRequest{Session: holder, Seller: "a"})
			require.NoError(t, err)
			_, err = e.Join(t.Context(), "r", JoinRequest{Session: waiter, Seller: "b"})
			require.NoError(t, err)
			ends := held.Now + 50
			// set the end directly, so that no call advances the room before Redis refuses writes
			redistest.SetState(t, redis.Client(), "r", "expires", ends)
			require.NoError(t, redis.Client().ConfigSet(t.Context(), setting, value).Err())

			_, err = e.Join(t.Context(), "r", JoinRequest{Session: NewSession(), Seller: "c"})
			require.True(t, NoWrites(err), "%v", err)
			require.ErrorIs(t, err, ErrStore)
			var view View
			var seats []Seat
			// the lease ends, and no waiter can be granted the lock
			testproc.Until(t, time.Minute, func() (err error) {
				view, seats, err = e.Look(t.Context(), "r", holder, waiter)
				if err == nil && seats[0].Status == Locked {
					err = ErrLockHeld
				}
				return err
			})
			require.Nil(t, view.Lease)
			require.Equal(t, Ended, seats[0].Status)
			require.Equal(t, Expired, seats[0].Outcome)
			require.Equal(t, held.Lease.Fence, seats[0].Fence)
			require.Equal(t, Waiting, seats[1].Status)
			require.Equal(t, 1, seats[1].Position)
			snapshot, err := e.Snapshot(t.Context(), "r")
			require.NoError(t, err)
			require.Len(t, snapshot.Ranks, 1)
			_, err = e.Roster(t.Context(), "r")
			require.NoError(t, err)
			_, err = e.Glance(t.Context(), "r")
			require.NoError(t, err)
			_, err = e.RecentMessages(t.Context(), "r")
			require.NoError(t, err)

			require.NoError(t, redis.Client().ConfigSet(t.Context(), setting, "0").Err())
			st, err := e.Stand(t.Context(), "r", waiter)
			require.NoError(t, err)
			require.Equal(t, Locked, st.Status)
		})
	}
}
