package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	engine "github.com/waitroom/waitroom/room"
)

func taught(l level, held ...float64) float64 {
	for _, h := range held {
		l.ended(h)
	}
	return l.hold()
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"the lease stays", taught(fixed{}, 10, 20), 120},
		{"nothing known yet", taught(newEWMA(0.2, false)), 120},
		{"a fifth of the newest", taught(newEWMA(0.2, false), 20), 100},
		{"a warm one takes half of the first", taught(newEWMA(0.1, true), 20), 70},
		{"and is the mean of all with the lease", taught(newEWMA(0.1, true), 20, 30, 30), 50},
		{"until alpha is more", taught(newEWMA(0.5, true), 20, 30), 50},
		{"mean of the last two", taught(&last{n: 2}, 100, 20, 40), 30},
		{"median of the last three", taught(&last{n: 3, middle: true}, 1, 100, 20, 40), 40},
		{"median of an even number", taught(&last{n: 4, middle: true}, 10, 20, 30, 120), 25},
		{"shrunk halfway to the long run", taught(newShrunk(1, 1), 20), (20 + 70) / 2.0},
		{"half quick, half slow", taught(blend{newEWMA(0.2, false), newEWMA(0.02, true)}, 20), (100 + 70) / 2.0},
		{"a trend goes on", taught(&trend{last{n: 50}}, 10, 20, 30), 40},
		{"and not over the lease", taught(&trend{last{n: 50}}, 10, 60, 110), 120},
	} {
		require.InDelta(t, c.want, c.got, 1e-9, c.name)
	}
}

func knows(held ...float64) *known {
	k := newKnown(nil)
	for i, h := range held {
		k.ended(h, float64(i+1)*100)
	}
	return k
}

func TestResiduals(t *testing.T) {
	k := knows(20, 40, 60, 120)
	for _, c := range []struct {
		name             string
		of               residual
		h, elapsed, want float64
	}{
		{"less elapsed", lessElapsed, 45, 20, 25},
		{"less elapsed, over its time", lessElapsed, 45, 50, 0},
		{"memoryless", memoryless, 45, 50, 45},
		{"at least a quarter of h", atLeast(0.25), 40, 39, 10},
		{"at least a quarter of what is left", atLeastLeft(0.25), 40, 40, 20},
		{"mean of those longer", byLast, 45, 50, 40},
		{"as long does not count as longer", byLast, 45, 60, 60},
		{"median of those longer", byMiddle, 45, 30, 30},
		{"median of few", byFew, 45, 70, 50},
		{"none was longer", byLast, 45, 120, 45},
		{"bins: two longer ones, the newer weighs more", byBins, 45, 50, (0.95*15 + 70) / 1.95},
		{"median by bins", byBinsMiddle, 45, 50, 70},
	} {
		require.InDelta(t, c.want, c.of(k, c.h, c.elapsed), 1e-9, c.name)
	}
}

func TestMomentsSeparateConstantHoldingsFromVaryingOnes(t *testing.T) {
	same := knows()
	same.square.first.h, same.square.second.h = 40, 1600
	require.InDelta(t, 10, byMomentsMiddle(same, 40, 30), 1e-9, "constant: what is left of h")
	wild := knows()
	wild.square.first.h, wild.square.second.h = 40, 3200
	require.InDelta(t, 40*math.Ln2, byMomentsMiddle(wild, 40, 30), 1e-9, "as wild as chance: no memory")
	half := knows()
	half.square.first.h, half.square.second.h = 40, 2400
	require.InDelta(t, 0.5*40*math.Ln2+0.5*10, byMomentsMiddle(half, 40, 30), 1e-9)
	require.InDelta(t, 25, byMoments(half, 40, 30), 1e-9)
}

// The engine keeps the variance instead of the mean square; both give the same result.
func TestVarianceCanBeKeptByItself(t *testing.T) {
	m := newMoments(chosenAlpha)
	h, v, n := leaseLength, 0.0, 0
	for _, d := range []float64{20, 90, 45, 120, 31, 8, 60, 70, 15, 22, 33, 120, 5} {
		m.ended(d)
		n = min(n+1, 9)
		a := 1 / float64(n+1)
		v = (1 - a) * (v + a*(d-h)*(d-h))
		h += a * (d - h)
		require.InDelta(t, m.first.h, h, 1e-9)
		require.InDelta(t, m.variance(), v, 1e-6)
	}
}

func TestAhead(t *testing.T) {
	k := newKnown(nil)
	s := &sight{position: 11, ticket: 40, away: 4, line: 20, allAway: 6}
	k.share.h, k.highest, k.tickets.h = 0.8, 20, 2
	for name, c := range map[string]struct {
		of   ahead
		want float64
	}{
		"everybody":                     {everybody, 10},
		"by share":                      {byShare, 8},
		"19 tickets between, 2 a grant": {byTickets, 9.5},
		"none leaves":                   {byHazard, 10},
		"not the away":                  {present, 6},
		"the away half":                 {presentHalf, 8},
		"tickets, not the away":         {presentTickets, 6},
		"spread evenly":                 {spreadEvenly, 7},
		"foremost":                      {awayFirst, 4},
		"foremost, half":                {awayFirstHalf, 7},
	} {
		require.InDelta(t, c.want, c.of(k, s, 40), 1e-9, name)
	}
	k.leaving, k.waited = 10, 10_000
	require.InDelta(t, math.Log(1+0.04*10)/0.04, byHazard(k, s, 40), 1e-9)
}

func TestWhole(t *testing.T) {
	k := newKnown(nil)
	s := &sight{now: 400, position: 3, ticket: 8, held: true, left: 100, elapsed: 20}
	require.InDelta(t, s.maximum(), released(k, s), 1e-9, "nothing known yet")
	for i := range 4 {
		k.ended(100, float64(i+1)*100)
		k.granted(i+1, float64(i+1)*100, true)
	}
	require.InDelta(t, 3*400/4.0, released(k, s), 1e-9, "three ahead, four released in 400 s")
	require.InDelta(t, 400, regressed(k, s), 1e-9, "a ticket every 100 s, four to go")
	require.InDelta(t, 80+200, quantile(0)(k, s), 1e-9)
	k.truth = 50
	require.InDelta(t, 30+100, truth(k, s), 1e-9)
}

func TestEstimateIsNeverOverTheMaximum(t *testing.T) {
	for _, e := range catalogue() {
		s := newStudy([]estimator{e, find(chosen)})
		s.settled = func(w *watched) {
			for i, v := range w.views {
				require.LessOrEqual(t, float64(w.said[2*i]), v.maximum+1e-3, e.name)
				require.GreaterOrEqual(t, w.said[2*i], float32(0), e.name)
			}
		}
		w := small(holdings()[4], 0.3, 0.3)
		w.arrivals.count, w.arrivals.every = 60, 20
		s.run(w, 2)
		require.Zero(t, s.overMax)
	}
}

// The formula of lab/estimates.md, computed by hand.
func Example_formula() {
	hold, spread, left, elapsed := 45.0, 30.0, 70.0, 50.0
	wild := min(spread*spread/(hold*hold), 1)
	rest := min(wild*math.Ln2*hold+(1-wild)*max(hold-elapsed, 0), left)
	for p := 1; p <= 3; p++ {
		fmt.Printf("%.1f ", rest+float64(p-1)*hold)
	}
	// Output: 13.9 58.9 103.9
}

func TestChosenIsWhatTheProductEstimates(t *testing.T) {
	e := find(chosen)
	k := newKnown([]level{})
	k.holds = make([]float64, len(levelParts()))
	now := int64(1_800_000_000_000)
	ms := func(seconds float64) int64 { return int64(seconds * 1000) }
	for _, hold := range []float64{20, 45, 110} {
		for _, spread := range []float64{0, 15, 45, 200} {
			for _, elapsed := range []float64{0, 30, 119} {
				k.square.first.h, k.square.second.h, k.holds[e.level] = hold, hold*hold+spread*spread, hold
				s := &sight{position: 3, held: true, left: leaseLength - elapsed, elapsed: elapsed}
				v := engine.View{Lease: &engine.Lease{GrantedAt: now - ms(elapsed), ExpiresAt: now + ms(s.left)}}
				v.Hold, v.Spread = time.Duration(hold)*time.Second, time.Duration(spread)*time.Second
				w, _ := v.WaitsAt(s.position, now, leaseLength*time.Second)
				require.InDelta(t, e.estimate(k, s), w.Estimated.Seconds(), 1e-6, "%v %v %v", hold, spread, elapsed)
			}
		}
	}
}

func TestChosenIsTheFormula(t *testing.T) {
	e := find(chosen)
	k := newKnown([]level{})
	k.square.first.h, k.square.second.h = 45, 45*45+30*30
	k.holds = make([]float64, len(levelParts()))
	k.holds[e.level] = 45
	s := &sight{position: 3, held: true, left: 70, elapsed: 50}
	require.InDelta(t, 103.86, e.estimate(k, s), 0.01)
	s.left = 5
	require.InDelta(t, 95, e.estimate(k, s), 1e-9, "never over what the lease has left")
	s.held, s.left = false, 0
	require.InDelta(t, 90, e.estimate(k, s), 1e-9, "a free lock has nothing left")
}
