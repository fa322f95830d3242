package desk

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestSignInsAreAskedAgainAPartAtATime(t *testing.T) {
	s := sockets{d: &Desk{Config: Config{Metrics: Metrics{Sockets: prometheus.NewGauge(prometheus.GaugeOpts{})}}}}
	for range 5 * turns {
		s.add(&Conn{})
	}
	seen := map[*Conn]bool{}
	for turn := range turns {
		part := s.inTurn(turn)
		require.Len(t, part, 5)
		for _, c := range part {
			seen[c] = true
		}
	}
	require.Len(t, seen, 5*turns)
}
