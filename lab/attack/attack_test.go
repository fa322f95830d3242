package main

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALostTurnAndASlowJoinAreNoticed(t *testing.T) {
	fast, slow := []time.Duration{10 * time.Millisecond}, []time.Duration{40 * time.Millisecond}
	good := result{turns: 1, joins: [2][]time.Duration{fast, fast}}
	require.NoError(t, good.judge())
	require.NoError(t, good.slow())
	require.Error(t, (&result{turns: 1, joins: good.joins, lost: []string{"s-1"}}).judge())
	require.Error(t, (&result{joins: good.joins}).judge())
	require.Error(t, (&result{turns: 1, joins: [2][]time.Duration{fast, nil}}).judge())
	require.Error(t, (&result{joins: [2][]time.Duration{fast, slow}}).slow())
}

// How long a join takes is judged by `make attack` alone: here it would be the clock of a busy machine.
func TestNoSellerLosesATurnWhileAllAttacksRunAndEachIsRefused(t *testing.T) {
	found, err := run(t.Context(), "../..", 40*time.Second)
	require.NoError(t, err)
	require.NoError(t, found.judge(), found)
	for name, want := range map[string]struct {
		only []int // statuses of its answers
		seen int   // one that there has to be
	}{
		"range of 30 KB":                {[]int{200}, 200},
		"read of an unused room":        {[]int{200, 404, 409}, 0},
		"join and leave in new rooms":   {[]int{200, 202, 429}, 200},
		"places of one room":            {[]int{200, 202, 429}, 429},
		"push that is never answered":   {[]int{200, 404}, 200},
		"password of an agent":          {[]int{401, 429}, 429},
		"sign-in begun at the provider": {[]int{303, 429}, 429},
		"logout token":                  {[]int{400, 429}, 429},
		"press of another site":         {[]int{403}, 403},
		"portal's link by an image":     {[]int{200}, 200},
		"export by an image":            {[]int{403}, 403},
		"id that cannot be seen":        {[]int{400}, 400},
	} {
		require.Contains(t, found.attacks, name, found)
		statuses := slices.Collect(maps.Keys(*found.attacks[name]))
		require.Subset(t, append(want.only, 0, 503), statuses, "%s: %s", name, found) // 503: it is busy
		if want.seen != 0 {
			require.Contains(t, statuses, want.seen, "%s: %s", name, found)
		}
	}
}
