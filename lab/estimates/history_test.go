package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithAHistoryFourFirstWaitsOfFiveEndWithinTheRange(t *testing.T) {
	to := open(openHoldings(), changes[0], nearHour, 101, 6)
	for i, s := range stages {
		without, with := to[0][i], to[1][i]
		require.Greater(t, float64(with.within), 0.8*float64(with.ranged), s.name)
		require.Less(t, with.result().Median, without.result().Median/1.5, s.name)
	}
	require.Zero(t, to[0][0].ranged, "without a history and a lease there is no range")
}

func TestHistoryIsOfTheSameHour(t *testing.T) {
	all := openHoldings()
	at := func(hour float64) float64 {
		return all[len(all)-1].past(rand.New(rand.NewPCG(1, 2)), pastDays*daySeconds+3600*hour, nearHour, 1).hold
	}
	require.Greater(t, at(0), 1.5*at(12))
}
