package links

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// socket is a socket of the browser "own", which acts for the place with ticket 5 of the session "owner".
type socket struct {
	stand *Stand
	seat  mirror.Seat
}

func (s *socket) Stand() *Stand { return s.stand }

func (s *socket) Place() (string, *mirror.Seat) { return "owner", &s.seat }

func newSocket(seat mirror.Seat) *socket {
	return &socket{NewStand(Link{Session: "owner", Ticket: 5, Fence: 9}, "own", 3), seat}
}

var waiting = mirror.Seat{Status: room.Waiting, Ticket: 5}

func TestStandIsOverWithAnotherPlaceOfItsSessionOrOneOfItsBrowser(t *testing.T) {
	var r Room[*socket]
	stays, replaced, unknown := newSocket(waiting), newSocket(mirror.Seat{Status: room.Waiting,
		Ticket: 6}), newSocket(mirror.Seat{})
	for _, s := range []*socket{stays, replaced, unknown} {
		r.Add(s)
	}
	require.Equal(t, []*socket{replaced}, r.Replaced())
	require.Equal(t, []*socket{replaced}, r.Over(&room.Event{Joined: []room.Joined{{Session: "somebody"}}}))
	require.Len(t, r.Over(&room.Event{Joined: []room.Joined{{Session: "own"}}}), 3)
	r.Remove(replaced)
	require.Empty(t, r.Replaced())
}

func TestBrowserThatIsLetInAgainComesBackOnceItsPlaceIsOver(t *testing.T) {
	var r Room[*socket]
	live, over := newSocket(waiting), newSocket(mirror.Seat{Status: room.Ended, Ticket: 5})
	r.Add(live)
	r.Add(over)
	require.Equal(t, []*socket{over}, r.LetIn("own"))
	require.Empty(t, r.LetIn("another"))
}

func TestAfterMissedEventsABrowsersOwnPlaceEndsItsStand(t *testing.T) {
	place := func(status room.Status, ticket int64) room.Seat {
		return room.Seat{Place: room.Place{Status: status, Ticket: ticket}}
	}
	live, ended, idle := place(room.Waiting, 5), place(room.Ended, 5), room.Seat{}
	for name, c := range map[string]struct {
		own, place room.Seat
		over       bool
	}{
		"it has one":                              {place(room.Waiting, 7), live, true},
		"it had one since, the other one ended":   {place(room.Ended, 7), ended, true},
		"it had one since, the other one goes on": {place(room.Ended, 7), live, false},
		"it had one before":                       {place(room.Ended, 3), ended, false},
		"it had none":                             {idle, ended, false},
	} {
		var r Room[*socket]
		s := newSocket(waiting)
		r.Add(s)
		require.True(t, r.Missed(), name)
		check, ok := r.Next()
		require.True(t, ok, name)
		require.Equal(t, []string{"own", "owner"}, check.Sessions, name)
		require.Equal(t, c.over, len(check.Over([]room.Seat{c.own, c.place})) == 1, name)
		check.Return()
		_, again := r.Next()
		require.True(t, again, "a batch that was returned is checked again")
		_, again = r.Next()
		require.False(t, again)
	}
}

func TestSocketShowsTheMessagesOfItsPlaceAlone(t *testing.T) {
	of := func(fence int64, offered bool) mirror.Message {
		return mirror.Message{Message: room.Message{Fence: fence}, Offered: offered}
	}
	list := func() []mirror.Message { return []mirror.Message{of(8, false), of(9, false), of(0, true)} }
	k := NewStand(Link{Session: "owner", Ticket: 5, Fence: 9}, "own", 3)
	require.Equal(t, []mirror.Message{of(9, false), of(0, true)}, k.Messages(list()))
	k.Held(0)
	k.Held(8)
	require.Equal(t, []mirror.Message{of(8, false), of(0, true)}, k.Messages(list()))
	var itself *Stand
	itself.Held(8)
	require.Len(t, itself.Messages(list()), 3)
}
