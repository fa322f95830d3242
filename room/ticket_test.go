package room_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// A call that names the ticket of a session's earlier place does not change the session's present place.
func TestCallForATicketThatIsOverTouchesNoOtherPlace(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		join := func(ticket int64) (room.Standing, error) {
			return e.Join(t.Context(), integration,
				room.JoinRequest{Session: b.session, Seller: "b", Ticket: ticket})
		}
		leave := func(ticket int64) (room.Standing, error) {
			return e.Leave(t.Context(), integration,
				room.LeaveRequest{Session: b.session, Outcome: room.Cancelled, Ticket: ticket})
		}
		a.join()
		_, err := join(2)
		require.ErrorIs(t, err, room.ErrNoPlace, "it makes no place")
		first := b.join()
		same, err := join(first.Ticket)
		require.NoError(t, err)
		require.Equal(t, first.Version, same.Version)
		_, err = leave(first.Ticket)
		require.NoError(t, err)

		second := b.join()
		require.NotEqual(t, first.Ticket, second.Ticket)
		for _, call := range []func(int64) (room.Standing, error){join, leave} {
			_, err = call(first.Ticket)
			require.ErrorIs(t, err, room.ErrNoPlace)
		}
		require.Equal(t, second.Version, b.stand().Version)
		gone, err := leave(second.Ticket)
		require.NoError(t, err)
		require.Equal(t, room.Cancelled, gone.Outcome)
	})
}
