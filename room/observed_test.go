package room

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room/wire"
)

// The ledger has had the place's end for long, and its seller may have been renamed there since: see
// Engine.EraseSeller.
func TestAPlaceThatEndedLongAgoIsNotReplayed(t *testing.T) {
	m := newMemory(time.Hour, false)
	view := View{Room: wire.Room{Epoch: 1, Version: 2}, Now: 1000}
	m.observeView("a", view)
	m.observePlace("a", NewSession(), view,
		Place{Status: Ended, Outcome: Completed, Ticket: 1, Seller: "erased since"})
	m.observePlace("a", NewSession(), view, Place{Status: Waiting, Ticket: 2, Seller: "s-2"})
	require.Len(t, m.replayOf("a").Places, 2)
	for _, p := range m.rooms["a"].observed.places {
		p.at = p.at.Add(-time.Second - endedKept)
	}
	k := m.replayOf("a")
	require.Len(t, k.Places, 1)
	require.EqualValues(t, 2, k.Places[0].Ticket)
	require.EqualValues(t, 2, k.Ticket)
}

// Two times lose their fractions of a millisecond: the rest of the lease, and the time of Redis's clock to
// which Redis adds that rest.
func TestAReplayedLeaseDoesNotEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(time.Hour, false)
		m.observeView("a", View{Room: wire.Room{Epoch: 1, Version: 2}, Now: 1000,
			Lease: &Lease{Fence: 7, Ticket: 1, ExpiresAt: 1500}})
		time.Sleep(100*time.Millisecond + 1) // of the fake clock
		const left, redis = 400 - 1e-6, 999e-3
		require.GreaterOrEqual(t, float64(m.replayOf("a").Lease.Left), left+redis)
	})
}
