package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lab/crowd"
)

func TestCentrifugosPingIsSeenAlsoBesideOtherLines(t *testing.T) {
	for text, ping := range map[string]bool{
		"{}": true, "{}\n{\"push\":{}}": true, "{\"push\":{}}\n{}": true, "{\"push\":{}}": false,
		`{"type":"ping"}`: false, "": false,
	} {
		require.Equal(t, ping, pinged([]byte(text)), text)
	}
}

func TestPositionsAreTrueWhereEachIsThereOnce(t *testing.T) {
	waiting := func(positions ...int64) *audience {
		a := &audience{last: []crowd.State{{Status: "locked"}, {Status: "ended"}}}
		for _, p := range positions {
			a.last = append(a.last, crowd.State{Status: "waiting", Position: p})
		}
		return a
	}
	require.NoError(t, waiting(3, 1, 2).truly())
	require.Error(t, waiting(1, 2, 2).truly())
	require.Error(t, waiting(1, 2, 4).truly())
	require.Error(t, waiting(2, 3).truly())
	require.Error(t, waiting().truly())
}
