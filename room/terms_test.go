package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

func TestRoomMayHaveALeaseOfItsOwnThatChangesWhileItIsUsed(t *testing.T) {
	lease := 10 * time.Second
	e := room.New(redistest.Shared(t),
		room.Config{Lease: time.Minute, Recovery: -1, Terms: func(id room.ID) room.Terms {
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

func TestRoomsMessagesMayBeSealedByASecretOfItsOwnAndAreOpenedByAllThatAreKnown(t *testing.T) {
	rdb, own := redistest.Shared(t), seal.NewKeyring([]byte("of the room"))
	keys := seal.NewKeyring([]byte("of all"))
	e := room.New(rdb, room.Config{Keys: keys, Recovery: -1, RoomKeys: func(id room.ID) *seal.Keyring {
		if id == integration {
			return own
		}
		return nil
	}})
	a := newSeller(t, e, "a")
	a.join()
	q := sms("m", 0, 0)
	q.Keep = true
	match(t, e, q)
	require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
	require.Equal(t, []string{"text of m"}, texts(messages(t, e, a.session)))
	unreadable := func(list []room.Message) {
		require.Len(t, list, 1)
		require.True(t, list[0].Unreadable)
		require.Empty(t, list[0].Text)
	}
	reported := 0
	other := room.New(rdb, room.Config{Keys: seal.NewKeyring([]byte("of all")), Recovery: -1,
		Unreadable: func(id room.ID) { reported++ }})
	unreadable(messages(t, other, a.session)) // it was not sealed by that
	require.Equal(t, 1, reported)
	own = seal.NewKeyring([]byte("the next of the room"))
	unreadable(messages(t, e, a.session))
	keys.Learn([]byte("of another"), []byte("of the room"))
	keys.Learn([]byte("of a third"))
	require.Equal(t, []string{"text of m"}, texts(messages(t, e, a.session)), "what was learned opens")
}

func TestARoomOutsideItsHoursTakesNoNewPlacesAndServesThoseInLine(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		var opens time.Time
		e := room.New(rdb, room.Config{Lease: time.Minute, OpensAt: func(room.ID, time.Time) time.Time { return opens }})
		join := func(id, seller, request string) (room.Standing, error) {
			return e.Join(t.Context(), integration,
				room.JoinRequest{Request: request, Session: id, Seller: seller})
		}
		a, b, c, request := room.NewSession(), room.NewSession(), room.NewSession(), room.NewSession()
		_, err := join(a, "a", "")
		require.NoError(t, err)
		_, err = join(b, "b", request)
		require.NoError(t, err)

		opens = time.Now().Add(time.Hour)
		_, err = join(c, "c", "")
		require.ErrorIs(t, err, room.ErrRoomClosed)
		_, err = join(c, "b", "")
		require.ErrorIs(t, err, room.ErrSellerHasPlace, "it learns that it is in line")
		for range 2 {
			again, err := join(b, "b", request)
			require.NoError(t, err)
			require.Equal(t, room.Waiting, again.Status)
		}
		again, err := join(b, "b", "")
		require.NoError(t, err)
		require.Equal(t, int64(2), again.Ticket)
		_, err = e.Leave(t.Context(), integration, room.LeaveRequest{Session: a, Outcome: room.Completed})
		require.NoError(t, err)
		again, err = join(b, "b", "")
		require.NoError(t, err)
		require.Equal(t, room.Locked, again.Status)
		_, err = join(a, "a", "")
		require.ErrorIs(t, err, room.ErrRoomClosed, "its place is over")

		opens = time.Time{}
		st, err := join(c, "c", "")
		require.NoError(t, err)
		require.Equal(t, int64(3), st.Ticket, "a refusal takes no ticket")
	})
}
