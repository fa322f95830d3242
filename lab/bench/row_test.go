package main

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARowSaysMissedWhereAnyOfItsChecksIsMissed(t *testing.T) {
	p50 := check{"p50", 0.7, " ms", 1, false}
	for name, c := range map[string]struct {
		row      row
		value    string
		verdict  string
		measured bool
	}{
		"all hold": {row{checks: []check{p50, {"p99", 5, " ms", 5, false}}}, "p50 0.70 ms, p99 5 ms",
			"yes", true},
		"one is missed": {row{checks: []check{p50, {"p99", 5.01, " ms", 5, false}}},
			"p50 0.70 ms, **p99 5.01 ms**", "**missed**", true},
		"too little": {row{checks: []check{{"", 0.44, " ×", 0.45, true}}}, "0.44 ×", "**missed**", true},
		"enough":     {row{checks: []check{{"", 0.45, " ×", 0.45, true}}}, "0.45 ×", "yes", true},
		"no number":  {row{checks: []check{{"", math.NaN(), " ms", 5, false}}}, "– ms", "**missed**", true},
		"not known": {row{checks: []check{{"", 2, " ×", 0.75, false}}, open: "no peer"}, "2 ×",
			"not judged: no peer", true},
		"it went wrong": {row{checks: []check{p50}, err: errors.New("a | b\nc")}, "–",
			"**not measured**: a / b c", false},
		"nothing was asked": {row{}, "", "**not measured**: nothing came", false},
	} {
		require.Equal(t, c.value, c.row.value(), name)
		require.Equal(t, c.verdict, c.row.verdict(), name)
		require.Equal(t, c.measured, unmeasured([]row{c.row}) == 0, name)
	}
}

func TestTheTableHasALineForEachRow(t *testing.T) {
	require.Equal(t, "| what | bar | value | holds? |\n| --- | --- | --- | --- |\n| a | ≤ 1 | 2 | "+
		"**missed** |\n| b | ≤ 1 | 1 | yes |\n", table([]row{
		{what: "a", bar: "≤ 1", checks: []check{{"", 2, "", 1, false}}},
		{what: "b", bar: "≤ 1", checks: []check{{"", 1, "", 1, false}}}}))
}

func TestAVersionOfBeforeStandsBesideByTheRowsName(t *testing.T) {
	one := func(what string, value float64) row {
		return row{what: what, bar: "≤ 1", checks: []check{{"", value, " ms", 1, false}}}
	}
	require.Equal(t, "| what | bar | before | now | holds now? |\n| --- | --- | --- | --- | --- |\n"+
		"| a | ≤ 1 | 3 ms | 2 ms | **missed** |\n| b | ≤ 1 | – | 1 ms | yes |\n| c |  | 4 ms | – | **not "+
		"measured**: lost |\n",
		columns([]row{one("c", 4), one("a", 3)},
			[]row{one("a", 2), one("b", 1), {what: "c", err: errors.New("lost")}}))
	require.Equal(t, "- **b**: **not measured**: lost\n",
		failures([]row{one("a", 1), {what: "b", err: errors.New("lost")}}))
}

func TestQuantilesAreByTheNearestRank(t *testing.T) {
	hundred := sample{}
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	require.EqualValues(t, 50, hundred.median())
	require.EqualValues(t, 99, hundred.at(.99))
	require.EqualValues(t, 100, hundred.at(1))
	require.EqualValues(t, 1, hundred.at(0))
	require.EqualValues(t, 2, sample{1, 2, 1000}.median())
	require.True(t, math.IsNaN(sample{}.at(.99)))
	require.Equal(t, "1–1000 ms", sample{2, 1, 1000}.spread(" ms"))
}

func TestOnlyWhatIsNamedIsMeasured(t *testing.T) {
	all, err := chosen("")
	require.NoError(t, err)
	require.Len(t, all, len(measures()))
	two, err := chosen("verbs,idle")
	require.NoError(t, err)
	require.Len(t, two, 2)
	require.Equal(t, "idle", two[0].name)
	_, err = chosen("idel")
	require.ErrorContains(t, err, "idle")
}
