package hub_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// While the replica receives no events, the linked place ends and the socket's browser gets a place of its
// own. Sockets whose browsers have no place of their own stay open.
func TestLinkedSocketComesBackForAPlaceOfItsOwnThatTheReplicaMissed(t *testing.T) {
	server, all := redistest.Start(t), new(linkStore)
	proxy, elsewhere := server.Proxy(), room.New(server.Client(), room.Config{})
	// only the subscription reports changes
	r := start(t, splitClient{server.Client(), proxy.Client()}, room.Config{},
		hub.Config{Linked: all.find, Beat: time.Hour, Probe: time.Hour, Unnotified: true})
	ids := sessions(7)
	holder, owners, browsers := ids[0], ids[1:4], ids[4:]
	had := func(browser string) { // of its own, before it was let in
		join(t, elsewhere, browser)
		leave(t, elsewhere, browser, room.Cancelled)
	}
	had(browsers[2])
	join(t, elsewhere, holder)
	all.of = make(map[string]links.Link)
	var guests []*socket
	for i, owner := range owners {
		all.of[browsers[i]] = links.Link{Session: owner, Ticket: join(t, elsewhere, owner).Ticket}
		if i == 1 {
			had(browsers[i])
		}
		guests = append(guests, r.dial(browsers[i]))
		guests[i].untilPosition(int64(i + 1))
		untilHere(t, server.Client(), owner) // the last event that this replica causes, and so hears
	}

	proxy.Refuse()
	proxy.CutAll()
	leave(t, elsewhere, owners[0], room.Cancelled)
	own := join(t, elsewhere, browsers[0])
	leave(t, elsewhere, owners[2], room.Cancelled)
	proxy.Heal()
	require.Equal(t, 4003, guests[0].untilClosed())
	require.Equal(t, own.Ticket, *r.dial(browsers[0]).until("the first state",
		func(state) bool { return true }).Ticket)
	guests[2].untilOutcome(room.Cancelled)
	leave(t, elsewhere, holder, room.Completed)
	guests[1].untilStatus(room.Locked)
	guests[2].until("that somebody else's turn has come", func(st state) bool { return st.QueueLength == 1 })
}
