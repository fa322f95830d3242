package main

import (
	"math"

	"github.com/waitroom/waitroom/templates"
)

// chosen is the candidate that docs/decisions/0011 names, with the weight of its newest lease. A run that
// chooses another by the rule of score.go ends with an error.
const (
	chosen      = "warm EWMA 0.1 · by moments, median · everybody"
	chosenAlpha = 0.1
)

// spreads are upper ends of a range over the chosen estimate, meant to hold four waits of five. each is the
// variance of holdings.
var spreads = []struct {
	name string
	end  func(mid, each float64, s *sight) float64
}{
	{"the estimate itself", func(mid, _ float64, _ *sight) float64 { return mid }},
	{"holdings apart", func(mid, each float64,
		s *sight) float64 {
		return mid + z80*math.Sqrt(independent(each, s))
	}},
	{"and the level's error", func(mid, each float64,
		s *sight) float64 {
		return mid + z80*math.Sqrt(stepping(each, s))
	}},
	{"and 15 % of drift", func(mid, each float64, s *sight) float64 {
		return mid + z80*math.Sqrt(stepping(each, s)+0.0225*mid*mid)
	}},
	{"no state: × (1.1 + 0.6/√p) + 10 s", func(mid, _ float64, s *sight) float64 {
		return mid*(1.1+0.6/math.Sqrt(float64(s.position))) + 10
	}},
}

// proposed is the index of the range that lab/estimates.md proposes.
const proposed = 2

const (
	spreadCount = 5
	z80         = 0.8416
)

// independent is the variance of the wait if hold times are independent. The remaining time of the live lease
// counts as one, as far as the maximum allows.
func independent(each float64, s *sight) float64 {
	rest := 0.0
	if s.held {
		rest = min(each, s.left*s.left/4)
	}
	return rest + float64(s.position-1)*each
}

// stepping adds that the level itself is a mean of few leases.
func stepping(each float64, s *sight) float64 {
	n := float64(s.position - 1)
	return independent(each, s) + n*n*each*chosenAlpha/(2-chosenAlpha)
}

// ranges returns the upper ends, at most the maximum.
func ranges(k *known, mid float64, s *sight) (ends [spreadCount]float64) {
	each := k.square.variance()
	for i := range spreads {
		ends[i] = min(spreads[i].end(mid, each, s), s.maximum())
	}
	return ends
}

// usual returns the range that the page shows around the estimate, before it rounds it outward to minutes.
func usual(k *known, mid float64, s *sight) [2]float64 {
	u := templates.Usual{Position: s.position, Spread: math.Sqrt(k.square.variance())}
	if s.held {
		u.Left = s.left
	}
	low, high := u.Range(mid, s.maximum())
	return [2]float64{low, high}
}

// coverage counts how many waits end within each range, by band, and the ranges' widths.
type coverage struct {
	views  [5]int
	actual [5]float64
	within [spreadCount][5]int
	width  [spreadCount][5]float64

	usual      [5]int // within the range that the page shows
	usualWidth [5]float64
}

func (c *coverage) add(v view, actual float64) {
	c.views[v.band]++
	c.actual[v.band] += actual
	c.usualWidth[v.band] += v.usual[1] - v.usual[0]
	if actual >= v.usual[0]-0.5 && actual <= v.usual[1]+0.5 {
		c.usual[v.band]++
	}
	for i, end := range v.ranges {
		c.width[i][v.band] += end - v.ranges[0]
		if actual <= end+0.5 {
			c.within[i][v.band]++
		}
	}
}

func (c *coverage) plus(d coverage) {
	for b := range c.views {
		c.views[b] += d.views[b]
		c.actual[b] += d.actual[b]
		c.usual[b] += d.usual[b]
		c.usualWidth[b] += d.usualWidth[b]
		for i := range c.within {
			c.within[i][b] += d.within[i][b]
			c.width[i][b] += d.width[i][b]
		}
	}
}
