package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTallyCountsErrorsBiasAndJumps(t *testing.T) {
	var a tally
	for range 100 {
		a.add(150, 100)
	}
	r := a.result()
	require.InEpsilon(t, 0.5, r.Median, 0.1)
	require.InEpsilon(t, 0.5, r.P90, 0.1)
	require.InEpsilon(t, 0.5, r.SymMedian, 0.1)
	require.InDelta(t, 0.5, r.Bias, 1e-9)

	var b tally
	b.next(20, 28)   // less than 10 s
	b.next(200, 215) // less than 10 %
	b.next(100, 90)
	b.next(100, 130)
	r = b.result()
	require.InDelta(t, 25, r.Jumps, 1e-9)
	require.InDelta(t, 30, r.Jumped, 1e-9)
}

func TestWaitsUnderTenSecondsCountTheSame(t *testing.T) {
	var a tally
	a.add(6, 1)
	require.InEpsilon(t, 0.5, a.result().Median, 0.1)
	require.Less(t, a.result().SymMedian, errorFloor)
}

func TestQuantilesAreAsFineAsTheirBins(t *testing.T) {
	var d spreadOf
	for i := 1; i <= 1000; i++ {
		d.add(float64(i) / 1000)
	}
	require.InEpsilon(t, 0.5, d.quantile(0.5), 0.03)
	require.InEpsilon(t, 0.9, d.quantile(0.9), 0.03)
	for i := 1; i < errorBins-1; i++ {
		require.Equal(t, i, binOf(binFrom(i)*1.01), "bin %d", i)
	}
}

func TestRuleTakesTheSimplestThatIsNearTheBestOfThoseAllowed(t *testing.T) {
	named := func(name string, s, bias, jumps float64, c cost) score {
		return score{estimator: estimator{name: name, cost: c}, Score: s, Bias: bias, Jumps: jumps}
	}
	ranked := rank([]score{
		named(before, 0.5, 0, 5, cost{kept: 1}),
		named(reference, 0.01, 0, 0, cost{}),
		named("too low", 0.1, -0.2, 0, cost{}),
		named("restless", 0.1, 0, 6, cost{}),
		named("best", 0.2, 0, 1, cost{kept: 50}),
		named("near, mirror", 0.21, 0, 1, cost{kept: 1, mirror: "who is away"}),
		named("near", 0.215, 0, 1, cost{kept: 3}),
		named("too far", 0.23, 0, 1, cost{kept: 1}),
	})
	require.Equal(t, "near", choose(ranked).name)
}

func TestNoPresentSellerWaitsLongerThanItsMaximum(t *testing.T) {
	w := world{holding: holdings()[4], arrivals: arrivals{name: "light", load: 0.6, count: 400, every: 1},
		away: 0.6}
	s := newStudy([]estimator{find(chosen)})
	for seed := range uint64(4) {
		s.run(w, seed)
	}
	require.Zero(t, s.overMax, "who was away when the lock came is not counted")
	require.NotZero(t, s.coverage.views[0])
}

func TestCellsWithFewViewsDoNotCount(t *testing.T) {
	s := judge(estimator{}, []result{{Views: leastViews, Median: 0.2, P90: 0.8},
		{Views: leastViews - 1, Median: 9, P90: 9}})
	require.InDelta(t, 0.4, s.Score, 1e-9)
}

func TestSameSeedsGiveTheSameFindings(t *testing.T) {
	all := []world{small(holdings()[1], 0.1, 0.1), small(holdings()[2], 0.1, 0.1)}
	es := []estimator{find(before), find(chosen)}
	one := playAll(all, es, 1, 2, 1)
	two := playAll(all, es, 1, 2, 2)
	require.Equal(t, len(one), len(two))
	for i := range one {
		require.Equal(t, one[i].cells, two[i].cells)
		require.Equal(t, one[i].coverage, two[i].coverage)
		require.NotZero(t, one[i].views)
	}
}

func TestTablesReplaceTheirOwnPartOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.md")
	require.NoError(t, os.WriteFile(path, []byte("# before\n\n"+beginMark+"old\n"+endMark+"\nafter\n"), 0o644))
	require.NoError(t, put(path, "new\n"))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# before\n\n"+beginMark+"new\n"+endMark+"\nafter\n", string(got))
}
