package mirror

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// For any payload on a room's channel, the mirror stays at its version or goes to the next. Or it asks for a
// snapshot. Its line stays in order and has each waiter once.
func FuzzEventsInAMirror(f *testing.F) {
	for _, seed := range []string{
		`{"epoch":1,"version":1,"changed":true,"joined":[{"ticket":1,"rank":1}]}` + "\n" +
			`{"epoch":1,"version":2,"changed":true,"joined":[{"ticket":2,"rank":2}],"lease":{"fence":7,"ticket":1,"rank":1}}`,
		`{"epoch":1,"version":1,"changed":true,"joined":[{"rank":1},{"rank":1}]}`,
		`{"epoch":1,"version":1,"changed":true,"joined":[{"rank":-1e308},{"rank":1e308},{"rank":0}]}`,
		`{"epoch":1,"version":1,"changed":true,"joined":[{"rank":1},{"rank":2},{"rank":3}],"moved":[{"rank":0.5,"from":3},{"rank":9,"from":9}]}`,
		`{"epoch":1,"version":1,"changed":true,"ended":[{"fence":0},{"rank":5}]}`, `{"epoch":1,"version":2}`,
		`{"epoch":2,"version":1,"changed":true,"reset":true}`,
		`{"epoch":1,"version":1,"changed":true,"lease":{"fence":7}}` + "\n" +
			`{"epoch":1,"version":2,"changed":true,"missed":[{"fence":7,"rank":1},{"fence":7,"rank":1}]}`,
		`{"epoch":1,"version":1,"changed":true,"hold":1e300,"lease":{"fence":1,"expires_at":-5}}`, "null\n{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payloads string) {
		var m State
		for payload := range strings.SplitSeq(payloads, "\n") {
			e, err := room.ParseEvent(payload)
			if err != nil {
				continue
			}
			before := m
			switch m.Apply(&e) {
			case Gap:
				return
			case Applied:
				require.Equal(t, before.Version+1, m.Version)
				require.True(t, before.Epoch == 0 || before.Epoch == m.Epoch)
				require.Equal(t, e.Lease != nil && e.Lease.Fence != 0, m.Held())
			default:
				require.Equal(t, before.Version, m.Version)
			}
			require.True(t, slices.IsSorted(m.Line))
			require.Len(t, slices.Compact(slices.Clone(m.Line)), len(m.Line))
			if w, known := m.Waits(len(m.Line)+1, e.Now, 120_000_000_000); known {
				require.LessOrEqual(t, w.Estimated, w.Maximum)
			}
		}
	})
}
