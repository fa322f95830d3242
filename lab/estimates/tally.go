package main

import "math"

// Errors are counted in bins, eight to a doubling, from half a per cent on.
const (
	errorBins  = 112
	errorFloor = 0.005
)

type spreadOf [errorBins]uint32

// binOf returns the bin of x, from its exponent and the first three bits of its mantissa.
func binOf(x float64) int {
	if x < errorFloor {
		return 0
	}
	return min(int(math.Float64bits(x/errorFloor)>>49)-1023*8+1, errorBins-1)
}

// binFrom returns where a bin begins.
func binFrom(i int) float64 {
	if i == 0 {
		return 0
	}
	return errorFloor * math.Float64frombits(uint64(i-1+1023*8)<<49)
}

func (d *spreadOf) add(x float64) { d[binOf(x)]++ }

// quantile returns the value below which a share q of the counted values lies, interpolated within its bin.
func (d *spreadOf) quantile(q float64) float64 {
	total := 0.0
	for _, n := range d {
		total += float64(n)
	}
	rest := q * total
	for i, n := range d {
		if rest <= float64(n) && n > 0 {
			return binFrom(i) + rest/float64(n)*(binFrom(i+1)-binFrom(i))
		}
		rest -= float64(n)
	}
	return 0
}

var bands = []struct {
	name string
	to   int
}{{"1", 1}, {"2–5", 5}, {"6–20", 20}, {"21–100", 100}, {"over 100", math.MaxInt}}

func bandOf(position int) int {
	for i, b := range bands {
		if position <= b.to {
			return i
		}
	}
	return len(bands) - 1
}

// tally has one estimator's errors in one world and band.
type tally struct {
	errors    spreadOf // |estimate − actual| / max(actual, 10 s)
	symmetric spreadOf // the larger ÷ the smaller − 1, each at least 10 s
	views     int
	estimated float64 // sums
	actual    float64
	pairs     int // of consecutive views of one waiter
	jumps     int // by which the estimate rose by over 10 s and over 10 %
	jumped    float64
}

const least = 10.0 // seconds: shorter ones count the same

func (t *tally) add(estimate, actual float64) {
	t.views++
	t.estimated += estimate
	t.actual += actual
	t.errors.add(math.Abs(estimate-actual) / max(actual, least))
	small, large := min(estimate, actual), max(estimate, actual)
	t.symmetric.add(max(large, least)/max(small, least) - 1)
}

func (t *tally) next(before, after float64) {
	t.pairs++
	if rise := after - before; rise > 10 && rise > 0.1*before {
		t.jumps++
		t.jumped += rise
	}
}

// result has what is kept of a tally.
type result struct {
	Views               int
	Median, P90         float64
	SymMedian, SymP90   float64
	Bias                float64 // of the sum of the actual waits
	Jumps, Jumped       float64 // of 100 views; seconds each
	Estimated, ActualOf float64 // means, seconds
}

func (t *tally) result() result {
	n := max(float64(t.views), 1)
	return result{
		Views: t.views, Median: t.errors.quantile(0.5), P90: t.errors.quantile(0.9),
		SymMedian: t.symmetric.quantile(0.5), SymP90: t.symmetric.quantile(0.9),
		Bias: (t.estimated - t.actual) / max(t.actual, n), Estimated: t.estimated / n, ActualOf: t.actual / n,
		Jumps: 100 * float64(t.jumps) / max(float64(t.pairs), 1), Jumped: t.jumped / max(float64(t.jumps), 1),
	}
}
