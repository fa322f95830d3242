package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// No process has observed anything: the whole system was restored from backups.
func TestOlderFileIsNoticedByTheLedgerAloneAndNoTicketIsGivenTwice(t *testing.T) {
	server := redistest.Start(t)
	before := room.New(server.Client(), room.Config{})
	a, b := newSeller(t, before, "a"), newSeller(t, before, "b")
	first, second := a.join(), b.join()
	require.NoError(t, server.Client().Save(t.Context()).Err())
	server.Restart() // with the saved data

	ahead := time.Now().Add(time.Hour).UnixMicro()
	e := room.New(server.Client(),
		room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
			return room.Recorded{Fence: ahead, Ticket: 57}, nil
		}})
	c := newSeller(t, e, "c").join()
	require.Greater(t, c.Epoch, first.Epoch)
	require.EqualValues(t, 58, c.Ticket)
	b.engine = e
	st := b.stand()
	require.Equal(t, second.Ticket, st.Ticket, "a remaining waiter keeps its place")
	require.Equal(t, room.Waiting, st.Status,
		"and the lock stays free until the last lease would have ended")
	a.engine = e
	require.Equal(t, room.Lost, a.stand().Outcome)
	_, err := e.Remove(t.Context(), integration, "", c.Ticket, room.Action{})
	require.NoError(t, err)
}

func TestRoomThatIsNotBehindTheLedgerGoesOn(t *testing.T) {
	server := redistest.Start(t)
	known := room.Recorded{}
	e := room.New(server.Client(),
		room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
			return known, nil
		}})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	first := a.join()
	known = room.Recorded{Fence: first.Fence, Ticket: b.join().Ticket}
	require.NoError(t, server.Client().Save(t.Context()).Err())
	server.Restart()
	for _, engine := range []*room.Engine{e, room.New(server.Client(), e.Config())} {
		a.engine = engine
		st := a.stand()
		require.Equal(t, room.Locked, st.Status)
		require.Equal(t, first.Epoch, st.Epoch)
	}
}

// No live process observed the end of a place. The ledger has that end, and Redis has lost it.
func TestSessionGetsTheEndInTheLedgerInsteadOfLost(t *testing.T) {
	var ends []room.RecordedEnd
	var asked []room.PlaceID
	var late error
	l := newLosing(t, room.Config{Ended: func(_ context.Context, _ room.ID,
		places []room.PlaceID) ([]room.RecordedEnd, error) {
		asked = places
		if late != nil {
			return nil, late
		}
		return ends, nil
	}})
	a, b, c := l.seller(l.one, "a"), l.seller(l.one, "b"), l.seller(l.one, "c")
	first, second, third := a.join(), b.join(), c.join()
	ends = []room.RecordedEnd{
		{PlaceID: room.PlaceID{Epoch: first.Epoch, Ticket: first.Ticket}, Seller: "a", Outcome: room.Expired,
			Fence: first.Fence, EndedAt: first.Lease.GrantedAt + 1},
		{PlaceID: room.PlaceID{Epoch: first.Epoch, Ticket: second.Ticket}, Seller: "a seller of another name",
			Outcome: room.Cancelled, EndedAt: 1},
		{PlaceID: room.PlaceID{Epoch: first.Epoch - 1, Ticket: third.Ticket}, Seller: "c",
			Outcome: room.Cancelled, EndedAt: 1},
	}
	require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
	st := a.stand()
	require.Equal(t, [2]any{room.Ended, room.Expired}, [2]any{st.Status, st.Outcome})
	require.Equal(t, room.Lost, b.stand().Outcome)
	require.Equal(t, room.Lost, c.stand().Outcome)
	require.Equal(t, room.PlaceID{Epoch: first.Epoch, Ticket: first.Ticket}, asked[0],
		"the holder is looked up first")
	require.Len(t, asked, 3)
	outcomes := map[string]room.Outcome{}
	for _, r := range l.journalled("told") {
		outcomes[r.Seller] = r.Outcome
	}
	require.Equal(t, map[string]room.Outcome{"a": room.Expired, "b": room.Lost, "c": room.Lost}, outcomes)

	late = context.DeadlineExceeded
	ended := a.join()
	ends = []room.RecordedEnd{{PlaceID: room.PlaceID{Epoch: ended.Epoch, Ticket: ended.Ticket}, Seller: "a",
		Outcome: room.Expired, EndedAt: 1}}
	require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
	require.Equal(t, room.Lost, a.stand().Outcome,
		"a ledger that does not answer holds up no reply")
}

// The ledger has the end of a place that still waits in Redis, since Redis lost that end unnoticed, before
// the loss of this test.
func TestRemainingWaiterKeepsItsPlaceWhateverTheLedgerHas(t *testing.T) {
	var ends []room.RecordedEnd
	l := newLosing(t, room.Config{Ended: func(context.Context, room.ID, []room.PlaceID) ([]room.RecordedEnd,
		error) {
		return ends, nil
	}})
	a, b, c := l.seller(l.one, "a"), l.seller(l.one, "b"), l.seller(l.one, "c")
	a.join()
	waits, next := b.join(), c.join()
	ends = []room.RecordedEnd{
		{PlaceID: room.PlaceID{Epoch: waits.Epoch, Ticket: waits.Ticket}, Seller: "b",
			Outcome: room.Cancelled, EndedAt: 1},
		{PlaceID: room.PlaceID{Epoch: next.Epoch, Ticket: next.Ticket}, Seller: "c", Outcome: room.Completed,
			Fence: 7, EndedAt: 1},
	}
	goBack := l.remember()
	a.leave(room.Completed)
	goBack()
	for i, s := range []seller{b, c} {
		st := s.stand()
		require.Equal(t, room.Waiting, st.Status)
		require.Equal(t, []any{waits.Ticket + int64(i), i + 1}, []any{st.Ticket, st.Position})
		require.Greater(t, st.Epoch, waits.Epoch)
	}
}

// A process observed Redis's last writes, and died when Redis lost them. The ledger has them. The live
// process observed the room, but not the last writes.
func TestTheLedgerIsBelievedThoughALiveProcessObservedTheRoom(t *testing.T) {
	var known room.Recorded
	l := newLosing(t, room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
		return known, nil
	}})
	a, b, x := l.seller(l.one, "a"), l.seller(l.one, "b"), l.seller(l.two, "x")
	first := a.join()
	waits := b.join()
	goBack := l.remember()
	died := x.join()
	goBack()
	known = room.Recorded{Fence: first.Fence, Ticket: died.Ticket, Open: true}
	require.Greater(t, l.seller(l.one, "y").join().Ticket, died.Ticket)
	st := b.stand()
	require.Equal(t, waits.Ticket, st.Ticket)
	require.Greater(t, st.Epoch, waits.Epoch)
	require.Equal(t, room.Lost, a.stand().Outcome)
}
