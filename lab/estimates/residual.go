package main

import (
	"math"
	"slices"
)

// residual estimates the remaining time of the live lease; h is the level. The caller limits it to what the
// lease has left.
type residual func(k *known, h, elapsed float64) float64

// lessElapsed is the old rule.
func lessElapsed(_ *known, h, elapsed float64) float64 { return max(h-elapsed, 0) }

// memoryless ignores how long the holder has had the lock.
func memoryless(_ *known, h, _ float64) float64 { return h }

// atLeast is the old rule, but at least a share of h: a holder that has taken longer than others is not done
// at once.
func atLeast(share float64) residual {
	return func(_ *known, h, elapsed float64) float64 { return max(h-elapsed, share*h) }
}

// atLeastLeft is the old rule, but at least a share of the lease's remaining time.
func atLeastLeft(share float64) residual {
	return func(_ *known, h, elapsed float64) float64 { return max(h-elapsed, share*(leaseLength-elapsed)) }
}

// byMoments lies between lessElapsed and memoryless, according to the variance of hold times.
func byMoments(k *known, h, elapsed float64) float64 {
	w := min(k.square.variance()/(h*h), 1)
	return w*h + (1-w)*max(h-elapsed, 0)
}

// byMomentsMiddle uses for memoryless the median, ln 2 times its mean.
func byMomentsMiddle(k *known, h, elapsed float64) float64 {
	w := min(k.square.variance()/(h*h), 1)
	return w*math.Ln2*h + (1-w)*max(h-elapsed, 0)
}

// byLast returns the mean remaining time of those recent hold times that were longer than elapsed.
func byLast(k *known, h, elapsed float64) float64 { return k.sorted.over(elapsed, h) }

// byMiddle returns the median of the same.
func byMiddle(k *known, h, elapsed float64) float64 { return k.sorted.middle(elapsed, h) }

// byFew returns the median of the last 20.
func byFew(k *known, h, elapsed float64) float64 { return k.few.middle(elapsed, h) }

// byBins returns the mean from a histogram with exponential decay.
func byBins(k *known, h, elapsed float64) float64 { return k.bins.over(elapsed, h) }

// byBinsMiddle returns the median from it.
func byBinsMiddle(k *known, h, elapsed float64) float64 { return k.bins.middle(elapsed, h) }

// moments are a mean and a mean square with exponential decay.
type moments struct {
	first, second *ewma
}

func newMoments(alpha float64) *moments {
	m := &moments{newEWMA(alpha, true), newEWMA(alpha, true)}
	m.second.h = leaseLength * leaseLength
	return m
}

func (m *moments) ended(held float64) {
	m.first.ended(held)
	m.second.ended(held * held)
}

func (m *moments) variance() float64 { return max(m.second.h-m.first.h*m.first.h, 0) }

// ordered has the last hold times, sorted, and for each of them the sum of it and all longer ones.
type ordered struct {
	last
	asc  []float64
	from []float64
}

func (o *ordered) ended(held float64) {
	o.last.ended(held)
	o.asc = append(o.asc[:0], o.held...)
	slices.Sort(o.asc)
	o.from = slices.Grow(o.from[:0], len(o.asc)+1)[:len(o.asc)+1]
	o.from[len(o.asc)] = 0
	for i := len(o.asc) - 1; i >= 0; i-- {
		o.from[i] = o.from[i+1] + o.asc[i]
	}
}

// longer returns the index of the first hold time that is longer.
func (o *ordered) longer(elapsed float64) int {
	i, _ := slices.BinarySearch(o.asc, math.Nextafter(elapsed, math.Inf(1)))
	return i
}

func (o *ordered) over(elapsed, unknown float64) float64 {
	i := o.longer(elapsed)
	if i == len(o.asc) {
		return unknown
	}
	return o.from[i]/float64(len(o.asc)-i) - elapsed
}

func (o *ordered) middle(elapsed, unknown float64) float64 {
	i := o.longer(elapsed)
	if i == len(o.asc) {
		return unknown
	}
	rest := o.asc[i:]
	return (rest[(len(rest)-1)/2]+rest[len(rest)/2])/2 - elapsed
}

const binCount = 12 // of a lease; who expires is counted apart

// histogram decays by alpha with every lease.
type histogram struct {
	alpha float64
	share [binCount + 1]float64
}

func (g *histogram) ended(held float64) {
	i := int(held / leaseLength * binCount * (1 + 1e-12))
	for j := range g.share {
		g.share[j] *= 1 - g.alpha
	}
	g.share[i] += g.alpha
}

func (g *histogram) at(i int) float64 {
	if i == binCount {
		return leaseLength
	}
	return (float64(i) + 0.5) * leaseLength / binCount
}

func (g *histogram) over(elapsed, unknown float64) float64 {
	sum, weight := 0.0, 0.0
	for i, w := range g.share {
		if rest := g.at(i) - elapsed; rest > 0 {
			sum, weight = sum+w*rest, weight+w
		}
	}
	if weight < 1e-6 {
		return unknown
	}
	return sum / weight
}

func (g *histogram) middle(elapsed, unknown float64) float64 {
	weight := 0.0
	for i, w := range g.share {
		if g.at(i) > elapsed {
			weight += w
		}
	}
	if weight < 1e-6 {
		return unknown
	}
	sum := 0.0
	for i, w := range g.share {
		if g.at(i) > elapsed {
			if sum += w; sum >= weight/2 {
				return g.at(i) - elapsed
			}
		}
	}
	return unknown
}
