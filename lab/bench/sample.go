package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// sample has repeated measurements of one thing.
type sample []float64

// at returns a quantile by the nearest rank; NaN for an empty sample.
func (s sample) at(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(max(int(math.Ceil(q*float64(len(sorted))))-1, 0), len(sorted)-1)]
}

func (s sample) median() float64 { return s.at(0.5) }

// spread returns the range from the least to the greatest value as text.
func (s sample) spread(unit string) string {
	if len(s) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s–%s%s", number(slices.Min(s)), number(slices.Max(s)), unit)
}

// ms returns a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// number formats a value with three significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v == math.Trunc(v) || a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}
