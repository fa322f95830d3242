package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An event came between the reading of what was told and the store's answer to it.
func TestWhatWasToldWhileTheRoomWasShownTheRestIsShownNext(t *testing.T) {
	told, id := newTold(time.Hour), ID("r")
	ended := func(ticket, version int64) *Event {
		return &Event{Epoch: 1, Version: version, Ended: []Finished{{Session: "s", Ticket: ticket, Outcome: Completed, At: 5}}}
	}
	told.heard(id, ended(1, 1))
	shown := told.knowledge(id)
	told.heard(id, ended(2, 2))
	told.laid(id, shown)
	require.Equal(t, []int64{2}, tickets(told.knowledge(id)))
	told.laid(id, told.knowledge(id))
	require.Empty(t, tickets(told.knowledge(id)))
}

func tickets(k knowledge) (list []int64) {
	for _, p := range k.Places {
		list = append(list, p.Ticket)
	}
	return list
}
