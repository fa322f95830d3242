package room_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// The Redis client sends a command again by itself if its reply was lost.
func TestLostReplyNeverUsesASecondTicketNorEndsASecondLease(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{})
	direct := room.New(server.Client(), room.Config{})
	a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
	require.Equal(t, int64(1), newSeller(t, direct, "first").join().Ticket)

	lost := proxy.DropNextReply(mentions(a.session))
	require.Equal(t, int64(2), a.join().Ticket)
	<-lost
	require.Equal(t, int64(3), b.join().Ticket, "the repeat used no ticket")
	require.Equal(t, int64(4), c.join().Ticket)

	_, err := direct.Release(t.Context(), integration, "", a.stand().Lease.Fence,
		room.Action{Who: "kim", Action: "release", Reason: "test"})
	require.NoError(t, err)
	lost = proxy.DropNextReply(mentions(a.session))
	over := a.leave(room.Completed)
	<-lost
	require.Equal(t, room.Completed, over.Outcome)
	require.Equal(t, room.Locked, b.stand().Status, "one lease ended, not two")
	require.Equal(t, 1, c.stand().Position)
}

func mentions(text string) func([]byte) bool {
	return func(request []byte) bool { return bytes.Contains(request, []byte(text)) }
}

func TestRepeatedRequestReturnsTheFirstReply(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Lease: time.Minute})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		join := room.JoinRequest{Request: room.NewSession(), Session: a.session, Seller: "a"}
		first, err := e.Join(t.Context(), integration, join)
		require.NoError(t, err)
		b.join()
		leave := room.LeaveRequest{Request: room.NewSession(), Session: a.session, Outcome: room.Completed}
		over, err := e.Leave(t.Context(), integration, leave)
		require.NoError(t, err)

		repeat, err := e.Join(t.Context(), integration, join)
		require.NoError(t, err)
		require.Equal(t, first, repeat)
		again := a.join()
		require.Equal(t, int64(3), again.Ticket)
		repeat, err = e.Leave(t.Context(), integration, leave)
		require.NoError(t, err)
		require.Equal(t, over, repeat)
		require.Equal(t, again.Place, a.stand().Place, "the new place is untouched")
	})
}

// An ephemeral room keeps the reply to a request for seconds only. The reply to a repeat may be lost as well.
func TestReplyOfAnEphemeralRoomIsKeptAgainForTheNextRepeat(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Ephemeral: true, Silent: true})
		a := newSeller(t, e, "")
		held, err := e.Join(t.Context(), integration, room.JoinRequest{Session: a.session})
		require.NoError(t, err)
		leave := room.LeaveRequest{Request: room.NewSession(), Session: a.session, Outcome: room.Completed,
			Fence: held.Fence}
		for range 2 {
			before := storeNow(t, rdb)
			_, err := e.Leave(t.Context(), integration, leave)
			require.NoError(t, err)
			reply := "{integration}:request:" + leave.Request
			ends := rdb.PExpireTime(t.Context(), reply).Val().Milliseconds()
			require.Greater(t, ends, before+3000)
			require.Less(t, ends, storeNow(t, rdb)+5000)
			require.NoError(t, rdb.PExpire(t.Context(), reply, 2*time.Second).Err())
		}
	})
}
