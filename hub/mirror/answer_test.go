package mirror

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

func found(rank float64) *room.Seat {
	return &room.Seat{Place: room.Place{Status: room.Waiting, Ticket: int64(rank), Rank: rank}}
}

func TestAnswerCountsAsOfItsRevision(t *testing.T) {
	for name, c := range map[string]struct {
		knew, answered Revision
		placed         bool
		changed, look  bool
		caughtByNext   bool
	}{
		"of the mirror's own": {knew: Revision{Epoch: -1}, answered: Revision{7, 10},
			placed: true, changed: true},
		"of before the snapshot": {knew: Revision{Epoch: -1}, answered: Revision{7, 9},
			placed: true, look: true},
		"of an epoch that is over": {knew: Revision{Epoch: -1}, answered: Revision{6, 90},
			placed: true, look: true},
		"of the next version": {knew: Revision{7, 10}, answered: Revision{7, 11},
			placed: true, caughtByNext: true},
		"of a version far ahead": {knew: Revision{7, 10}, answered: Revision{7, 15},
			placed: true},
		"of a new epoch": {knew: Revision{7, 10}, answered: Revision{8, 1},
			placed: true},
		"after an event of more": {knew: Revision{7, 10}, answered: Revision{7, 9}},
		"after more was sent, before the snapshot": {knew: Revision{7, 8}, answered: Revision{7, 6}, placed: true,
			look: true},
		"from before the epoch": {knew: Revision{7, 10}, answered: Revision{6, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			m := here(t)
			s := m.Enter("x")
			m.Place(s, Seat{}, c.knew)
			a := m.Answer(s, &room.View{Room: wire.Room{Epoch: c.answered.Epoch, Version: c.answered.Version}}, found(9))
			require.Equal(t, c.placed, a.Placed)
			require.Equal(t, c.changed, a.Changed)
			require.Equal(t, c.look, a.Look)
			require.Equal(t, c.changed, m.Current(s))
			f := m.Apply(event(11, func(e *room.Event) { e.Lease = held(4, 9) }))
			require.Equal(t, c.caughtByNext, len(f.Caught) == 1)
		})
	}
}

// Redis may have lost all data, so that only a socket of this replica knows of the place.
func TestPlaceThatTheStoreKnowsNoMoreIsLostAndAnEndedOneStaysEnded(t *testing.T) {
	m := here(t)
	m.Place(m.Session("c"), Seat{Status: room.Ended, Outcome: room.Cancelled, Ticket: 3}, Revision{7, 10})
	for id, want := range map[string]Seat{
		"a": {Status: room.Ended, Outcome: room.Lost, Ticket: 1}, "b": {Status: room.Ended,
			Outcome: room.Lost, Ticket: 2},
		"c": {Status: room.Ended, Outcome: room.Cancelled, Ticket: 3}, "d": {Status: room.Idle},
	} {
		s := m.Session(id)
		m.Answer(s, &room.View{Room: wire.Room{Epoch: 8, Version: 1}}, &room.Seat{Place: room.Place{Status: room.Idle}})
		require.Equal(t, want, s.Seat, id)
	}
}

func TestMessagesAreTakenForThePlaceTheyAreForOnly(t *testing.T) {
	m := here(t)
	s := m.Session("b")
	view := &room.View{Room: wire.Room{Epoch: 7, Version: 10}}
	answer := found(2)
	answer.Messages = []room.Message{{MessageID: "m", ForgetAt: 100}}
	require.True(t, m.Answer(s, view, answer).Messages)
	require.False(t, m.Answer(s, view, answer).Messages, "it is known")
	require.Len(t, s.Messages(0, 99), 1)
	require.Empty(t, s.Messages(1, 99), "it was sent")
	require.Empty(t, s.Messages(0, 100), "it is over")
	other := found(2)
	other.Ticket, other.Messages = 99, answer.Messages
	require.False(t, m.Answer(s, &room.View{Room: wire.Room{Epoch: 7, Version: 3}}, other).Messages)
	m.Forget(100)
	require.Empty(t, s.Messages(0, 99))
}

func TestAnswerThatIsAheadIsSentWhenTheMirrorHasCaughtUp(t *testing.T) {
	m := here(t)
	s := m.Enter("x")
	m.Answer(s, &room.View{Room: wire.Room{Epoch: 7, Version: 12}}, found(9))
	goOn := func(e *room.Event) { e.Lease = held(4, 9) }
	require.Empty(t, m.Apply(event(11, goOn)).Caught)
	require.Equal(t, []*Session[struct{}]{s}, m.Apply(event(12, goOn)).Caught)
	require.Empty(t, m.Apply(event(13, goOn)).Caught, "once")
}

func TestEventChangesNoSeatThatWasLookedUpAfterIt(t *testing.T) {
	m := here(t)
	s := m.Session("d")
	m.Answer(s, &room.View{Room: wire.Room{Epoch: 7, Version: 11}}, found(9))
	f := m.Apply(event(11, func(e *room.Event) {
		e.Lease, e.Joined = held(4, 9), []room.Joined{{Session: "d", Ticket: 8, Rank: 8},
			{Session: "y", Ticket: 9, Rank: 9}}
	}))
	require.Empty(t, f.Seats)
	require.Equal(t, int64(9), s.Seat.Ticket)
}
