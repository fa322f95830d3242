package hub

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestSignInsAreAskedAgainAPartAtATime(t *testing.T) {
	d := newDesks(&Hub{metrics: newMetrics(prometheus.NewRegistry())})
	for range 5 * turns {
		d.add(&conn{desk: &desk{}})
	}
	seen := map[*conn]bool{}
	for turn := range turns {
		part := d.inTurn(turn)
		require.Len(t, part, 5)
		for _, c := range part {
			seen[c] = true
		}
	}
	require.Len(t, seen, 5*turns)
}
