package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSamplesAreDrawnByTheSecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), samplesFile)
	require.NoError(t, os.WriteFile(path, []byte(`metric_name,timestamp,metric_value,check
sockets_opened,2026-11-21T21:00:00.1Z,2,
handoff_ms,2026-11-21T21:00:00.2Z,4,
handoff_ms,2026-11-21T21:00:00.9Z,8,
vus,2026-11-21T21:00:01Z,1,
sockets_closed,2026-11-21T21:00:02.5Z,1,
`), 0o600))
	s, err := readSamples(path)
	require.NoError(t, err)
	require.Equal(t, 3, s.Duration)
	require.Equal(t, []float64{2, 2, 1}, s.Sockets)
	require.Equal(t, []float64{8, -1, -1}, s.P99["handoff_ms"])
}

func TestMemoryThatGrowsIsNotFlat(t *testing.T) {
	grows := func(perMinute float64) (list []usage) {
		for i := range 600 {
			at := time.Unix(int64(i), 0)
			list = append(list, usage{At: at, RSS: 40 + perMinute*float64(i)/60})
		}
		return list
	}
	require.True(t, slopeOf(grows(0), flatMiB).Flat)
	require.False(t, slopeOf(grows(1), flatMiB).Flat)
	require.InDelta(t, 10, slopeOf(grows(1), flatMiB).PerTen, 0.01)
	require.True(t, slopeOf(nil, flatMiB).Flat)
}

func TestFaultsStillFindTheirLine(t *testing.T) {
	for _, f := range faults {
		_, err := overlay("../..", t.TempDir(), f.name)
		require.NoError(t, err)
	}
}

func TestThePageNeedsNoOtherFile(t *testing.T) {
	r := &report{Scenario: "steady", Marks: []mark{{time.Unix(1, 0), "<killed>"}},
		Series: series{From: time.Unix(0, 0), Counts: map[string][]float64{"handoffs": {1, 2}}}}
	var page bytes.Buffer
	require.NoError(t, r.page(&page))
	require.Contains(t, page.String(), "<svg")
	require.NotContains(t, page.String(), "<killed>")
	require.NotRegexp(t, `(src|href)=`, page.String())
}
