package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room/wire"
)

// An event arrives after a process has put a replay together, and before Redis answers it.
func TestAnEventDuringAReplayIsReplayedNext(t *testing.T) {
	m, id := newMemory(time.Hour, false), ID("r")
	ended := func(ticket, version int64) *Event {
		return &Event{Room: wire.Room{Epoch: 1, Version: version},
			Ended: []Finished{{Session: "s", Ticket: ticket, Outcome: Completed, At: 5}}}
	}
	m.observeEvent(id, ended(1, 1))
	sent := m.replayOf(id)
	m.observeEvent(id, ended(2, 2))
	m.replayed(id, sent)
	require.Equal(t, []int64{2}, tickets(m.replayOf(id)))
	m.replayed(id, m.replayOf(id))
	require.Empty(t, tickets(m.replayOf(id)))
}

func tickets(k replay) (list []int64) {
	for _, p := range k.Places {
		list = append(list, p.Ticket)
	}
	return list
}
