package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hours returns more than a day of measurements of a quantity at a level, with 1 % of noise, that grows in
// each hour.
func hours(name string, level, grows float64) (list []sample) {
	for h := range 50 {
		tremble := level * 0.01 * float64(h%3-1)
		list = append(list, sample{name: level + tremble + grows*float64(h)})
	}
	return list
}

func TestWhatGrowsAfterTheWarmUpIsNamed(t *testing.T) {
	for name, of := range map[string]struct{ level, leak float64 }{
		"used":         {20, 0.12}, // 200 bytes of each of 600 leases
		"redis rss":    {40, 0.4},
		"keys":         {30000, 120},
		"streams":      {100, 60},
		"ended leases": {15000, 600},
		"places":       {300, 10},
		"inbox":        {80, 10},
		"index":        {60, 6},
		"clients":      {30, 2},
		"goroutines 1": {110, 3},
		"files 2":      {60, 3},
		"heap 1":       {20, 0.3}, // a KiB of each of 300 leases
		"rss 2":        {80, 1.5},
	} {
		require.NoError(t, judge(hours(name, of.level, 0)), "%s is level", name)
		err := judge(hours(name, of.level, of.leak))
		require.ErrorIs(t, err, errGrows, name)
		require.ErrorContains(t, err, name)
	}
}

func TestHoursOfTheWarmUpMayGrow(t *testing.T) {
	list := hours("keys", 1000, 0)
	for h := range warmUp {
		list[h]["keys"] = float64(h)
	}
	require.NoError(t, judge(list))
	require.Error(t, judge(list[:warmUp+1]), "nothing was judged")
}

func TestWhatStaysOpenAfterAllSellersHaveGoneIsNamed(t *testing.T) {
	before := sample{"goroutines 1": 33, "files 1": 20, "rss 1": 40}
	require.NoError(t, left(before, sample{"goroutines 1": 40, "files 1": 40, "rss 1": 80}))
	require.ErrorContains(t, left(before, sample{"goroutines 1": 60, "files 1": 20, "rss 1": 40}),
		"goroutines 1")
	require.ErrorContains(t, left(before, sample{"goroutines 1": 33, "files 1": 200, "rss 1": 40}), "files 1")
}

func TestEveryColumnAndLeakHasABound(t *testing.T) {
	for _, c := range columns {
		require.NotZero(t, boundOf(c.name), c.name)
	}
	for _, l := range leaks {
		require.Contains(t, bounds, l.of)
		d := &day{config: config{root: "../..", broken: l.name}}
		_, err := d.overlay(t.TempDir())
		require.NoError(t, err, "it fits the product")
	}
	require.True(t, strings.Contains(table(hours("keys", 1000, 0)), "from here on"))
}
