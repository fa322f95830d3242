package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The ledger has had its end for long, and may know the seller by another name since: see Engine.EraseSeller.
func TestPlaceThatEndedLongAgoIsNotLaidBeforeARoomThatNobodyLookedAtSince(t *testing.T) {
	told := newTold(time.Hour)
	view := View{Epoch: 1, Version: 2, Now: 1000}
	told.saw("a", view)
	told.stood("a", NewSession(), view, Place{Status: Ended, Outcome: Completed, Ticket: 1, Seller: "erased since"})
	told.stood("a", NewSession(), view, Place{Status: Waiting, Ticket: 2, Seller: "s-2"})
	require.Len(t, told.knowledge("a").Places, 2)
	for _, p := range told.rooms["a"].places {
		p.at = p.at.Add(-time.Second - endedKept)
	}
	k := told.knowledge("a")
	require.Len(t, k.Places, 1)
	require.EqualValues(t, 2, k.Places[0].Ticket)
	require.EqualValues(t, 2, k.Ticket)
}
