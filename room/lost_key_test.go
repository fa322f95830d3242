package room_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Redis has lost a single key of the room, as an eviction loses it.

// The places have the line too, but for what support moved: each waiter keeps its place.
func TestLineThatIsLostAloneIsMadeAgainFromThePlaces(t *testing.T) {
	l := newLosing(t, room.Config{})
	a, b, c := l.seller(l.one, "a"), l.seller(l.one, "b"), l.seller(l.two, "c")
	for _, s := range []seller{a, b, c} {
		s.join()
	}
	require.NoError(t, l.rdb.Del(t.Context(), "{integration}:queue").Err())
	found, err := l.two.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.Equal(t, 2, found.Waiting)
	require.Equal(t, []int{1, 2}, []int{b.stand().Position, c.stand().Position})
	d := l.seller(l.one, "d").join()
	require.EqualValues(t, 3, d.Position)
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status)
}

// A line without places has neither tickets nor sellers: the room begins again.
func TestPlacesThatAreLostAloneEndAsLost(t *testing.T) {
	l := newLosing(t, room.Config{})
	a, b := l.seller(l.one, "a"), l.seller(l.one, "b")
	held := a.join()
	b.join()
	require.NoError(t, l.rdb.Del(t.Context(), "{integration}:places").Err())
	for _, s := range []seller{a, b} {
		require.Equal(t, room.Lost, s.stand().Outcome)
	}
	c := l.seller(l.two, "c").join()
	require.Equal(t, room.Waiting, c.Status, "a may not know yet, and use its turn")
	require.EqualValues(t, 1, c.Position)
	require.GreaterOrEqual(t, c.Lease.ExpiresAt, held.Lease.ExpiresAt)
	require.Equal(t, room.Waiting, b.join().Status)
}

// Asks of ended leases are in a key of their own. Without it, their codes would be the next one's.
func TestEndedLeasesThatAreLostAloneMayHaveAsked(t *testing.T) {
	l := newLosing(t, room.Config{})
	a, b := l.seller(l.one, "a"), l.seller(l.one, "b")
	a.join()
	b.join()
	a.leave(room.Completed)
	held := b.stand().Lease
	require.NoError(t, l.rdb.Del(t.Context(), "{integration}:leases").Err())
	requireNone(t, room.Ambiguous, probe(t, l.one, held.GrantedAt, held.GrantedAt+1, 0), "it may be a's")
}
