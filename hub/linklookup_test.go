package hub_test

import (
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestSocketOfWhichItIsNotKnownForWhomItStandsIsClosedLikeAnyOther(t *testing.T) {
	all := &linkStore{held: make(chan struct{})}
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{Linked: all.find, DrainSpread: time.Millisecond})
	ids := sessions(3)
	wrong, left, stays := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])
	untilAsked(t, all, ids[0])
	wrong.send(websocket.MessageText, "hello")
	require.Equal(t, 4500, wrong.untilClosed())
	require.NoError(t, left.ws.Close(1000, ""))
	go func() { _ = r.Hub.Drain(t.Context()) }()
	require.Equal(t, 4001, stays.untilClosed())
	for _, s := range []*socket{wrong, left, stays} {
		require.Empty(t, s.raw)
	}
	close(all.held)
}

func TestPlaceThatIsAnotherByTheTimeItIsKnownIsNotShown(t *testing.T) {
	for name, here := range map[string]bool{"owner here": true, "owner elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			all := &linkStore{held: make(chan struct{})}
			r := startLinked(t, all)
			ids := sessions(3)
			first, desk := join(t, r.Engine, ids[0]), r.watch(lobby)
			if here {
				r.dial(ids[0]).until("its place",
					func(st state) bool { return value(st.Ticket) == first.Ticket })
			}
			all.lead(ids[1], links.Link{Session: ids[0], Ticket: first.Ticket, Fence: first.Fence})
			guest, gone := r.dial(ids[1]), r.dial(ids[1])
			untilAsked(t, all, ids[1])
			require.NoError(t, gone.ws.CloseNow())
			leave(t, r.Engine, ids[0], room.Completed)
			again := join(t, r.Engine, ids[0])
			desk.until("the other place", func(p *desktest.Page) bool { return p.Version >= again.Version })
			close(all.held)
			require.Equal(t, 4003, guest.untilClosed())
			require.Empty(t, guest.raw)
			all.lead(ids[2], links.Link{}) // and to nothing for the other one
			require.Equal(t, "idle", r.dial(ids[1]).until("the first state",
				func(state) bool { return true }).Status)
		})
	}
}

func TestLinkedSocketOfALostPlaceIsNotifiedThoughItWasKnownOnlyAfterTheLoss(t *testing.T) {
	all := &linkStore{held: make(chan struct{})}
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{Linked: all.find})
	ids := sessions(4)
	first := join(t, r.Engine, ids[0])
	owner := r.dial(ids[0])
	owner.untilStatus(room.Locked)
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: first.Ticket, Fence: first.Fence})
	guest := r.dial(ids[1])
	idle := r.dial(ids[2])
	untilAsked(t, all, ids[1])
	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	join(t, r.Engine, ids[3])
	owner.untilOutcome(room.Lost)
	close(all.held)
	require.Equal(t, "idle", idle.until("the first state", func(state) bool { return true }).Status)
	require.Equal(t, string(room.Lost), outcome(guest.until("the first state",
		func(state) bool { return true })))
}
