package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestOnlyItsOwnSessionProlongsALeaseAndByAnyTime(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		b.join()
		_, err := e.Prolong(t.Context(), integration, "", b.session, first.Fence, time.Hour)
		require.ErrorIs(t, err, room.ErrStaleFence)
		_, err = e.Prolong(t.Context(), integration, "", a.session, first.Fence+1, time.Hour)
		require.ErrorIs(t, err, room.ErrStaleFence)
		const request = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
		for range 2 {
			st, err := e.Prolong(t.Context(), integration, request, a.session, first.Fence, time.Hour)
			require.NoError(t, err)
			require.Equal(t, first.Lease.ExpiresAt+time.Hour.Milliseconds(), st.Lease.ExpiresAt,
				"a repeat prolongs nothing")
		}
	})
}
