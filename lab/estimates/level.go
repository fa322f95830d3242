package main

import "slices"

// level estimates a typical hold time from ended leases.
type level interface {
	ended(held float64)
	hold() float64
}

// fixed is the lease's length.
type fixed struct{}

func (fixed) ended(float64) {}
func (fixed) hold() float64 { return leaseLength }

// ewma is the exponentially weighted mean. It starts at the lease's length; with warm, that start and every
// lease weigh the same until the weight would be less than alpha.
type ewma struct {
	alpha float64
	warm  bool
	n     int
	h     float64
}

func newEWMA(alpha float64, warm bool) *ewma { return &ewma{alpha: alpha, warm: warm, h: leaseLength} }

func (e *ewma) hold() float64      { return e.h }
func (e *ewma) ended(held float64) { e.h += e.weight() * (held - e.h) }
func (e *ewma) weight() float64 {
	e.n++
	if e.warm {
		return max(e.alpha, 1/float64(e.n+1))
	}
	return e.alpha
}

// last keeps the last n hold times; with middle it returns their median instead of their mean.
type last struct {
	n      int
	middle bool
	held   []float64
}

func (l *last) ended(held float64) {
	if len(l.held) == l.n {
		l.held = append(l.held[:0], l.held[1:]...)
	}
	l.held = append(l.held, held)
}

func (l *last) hold() float64 {
	switch {
	case len(l.held) == 0:
		return leaseLength
	case l.middle:
		return median(l.held)
	}
	return mean(l.held)
}

// shrunk moves the mean of the last hold times towards the long-term mean, which weighs as much as `weight`
// hold times.
type shrunk struct {
	recent last
	long   *ewma
	weight float64
}

func newShrunk(n int, weight float64) *shrunk {
	return &shrunk{recent: last{n: n}, long: newEWMA(0.005, true), weight: weight}
}

func (s *shrunk) ended(held float64) {
	s.recent.ended(held)
	s.long.ended(held)
}

func (s *shrunk) hold() float64 {
	n := float64(len(s.recent.held))
	return (n*s.recent.hold() + s.weight*s.long.hold()) / (n + s.weight)
}

// blend is the average of a fast and a slow mean.
type blend struct{ quick, slow *ewma }

func (b blend) hold() float64 { return (b.quick.h + b.slow.h) / 2 }
func (b blend) ended(held float64) {
	b.quick.ended(held)
	b.slow.ended(held)
}

// trend continues the regression line through the last n hold times.
type trend struct{ last }

func (t *trend) hold() float64 {
	n := len(t.held)
	if n < 3 {
		return t.last.hold()
	}
	var f fit
	for i, h := range t.held {
		f.add(float64(i), h)
	}
	return min(max(f.at(float64(n)), 1), leaseLength)
}

// fit is a least-squares line.
type fit struct{ n, x, y, xx, xy float64 }

func (f *fit) add(x, y float64) {
	f.n, f.x, f.y, f.xx, f.xy = f.n+1, f.x+x, f.y+y, f.xx+x*x, f.xy+x*y
}

func (f *fit) slope() float64 {
	if d := f.n*f.xx - f.x*f.x; d > 0 {
		return (f.n*f.xy - f.x*f.y) / d
	}
	return 0
}

func (f *fit) at(x float64) float64 { return (f.y-f.slope()*f.x)/f.n + f.slope()*x }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
