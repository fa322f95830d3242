package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

// Nobody lives who was told anything: the whole system was restored from backups.
func TestOlderFileIsNoticedByTheRecordAloneAndNoTicketIsGivenTwice(t *testing.T) {
	server := redistest.Start(t)
	before := room.New(server.Client(), room.Config{})
	a, b := newSeller(t, before, "a"), newSeller(t, before, "b")
	first, second := a.join(), b.join()
	require.NoError(t, server.Client().Save(t.Context()).Err())
	server.Restart() // with what was saved

	ahead := time.Now().Add(time.Hour).UnixMicro()
	e := room.New(server.Client(), room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
		return room.Recorded{Fence: ahead, Ticket: 57}, nil
	}})
	c := newSeller(t, e, "c").join()
	require.Greater(t, c.Epoch, first.Epoch)
	require.EqualValues(t, 58, c.Ticket)
	b.engine = e
	st := b.stand()
	require.Equal(t, second.Ticket, st.Ticket, "who waits in what is left keeps its place")
	require.Equal(t, room.Waiting, st.Status, "and nobody has the lock before the last lease would have ended")
	a.engine = e
	require.Equal(t, room.Lost, a.stand().Outcome)
	_, err := e.Remove(t.Context(), integration, "", c.Ticket, room.Action{})
	require.NoError(t, err)
}

func TestRoomThatIsNotBehindTheRecordGoesOn(t *testing.T) {
	server := redistest.Start(t)
	known := room.Recorded{}
	e := room.New(server.Client(), room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) { return known, nil }})
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
