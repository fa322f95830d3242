package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// The ledger refuses a verification that the table's triggers would refuse. Otherwise the whole run would
// have to be applied again.
func TestARunKnowsWhatItVerifiedBefore(t *testing.T) {
	lease := func(fence, granted, ended int64, completes bool) room.Record {
		return room.Record{Type: "message", Fence: fence, GrantedAt: granted, EndedAt: ended, Completes: completes}
	}
	for name, c := range map[string]struct {
		before, match room.Record
		why           string
	}{
		"the next lease's":            {lease(1, 10, 20, true), lease(2, 20, 30, true), ""},
		"another of one that goes on": {lease(1, 10, 15, false), lease(1, 10, 18, false), ""},
		"the completion of it":        {lease(1, 10, 15, false), lease(1, 10, 20, true), ""},
		"one after the completion": {lease(1, 10, 20, true), lease(1, 10, 20, false),
			"its fence is not above the highest settled one"},
		"a lower fence's": {lease(2, 20, 30, true), lease(1, 10, 20, true),
			"its fence is not above the highest settled one"},
		"an overlapping lease's": {lease(1, 10, 20, true), lease(2, 19, 30, true),
			"its lease overlaps a settled one"},
		"one that overlaps one ongoing": {lease(1, 10, 20, false), lease(2, 15, 30, false),
			"its lease overlaps a settled one"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &batch{verified: []verification{{1, c.before}}}
			require.Equal(t, c.why, b.factsAbout(record{Record: c.match}).objection(c.match))
		})
	}
}
