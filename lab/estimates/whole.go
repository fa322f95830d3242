package main

import "math"

// whole estimators are not made of a level, a residual and those ahead.
type whole func(k *known, s *sight) float64

// released divides who is ahead, the holder too, by the locks released each second, of late.
func released(k *known, s *sight) float64 {
	from := max(k.began, s.now-window)
	n := 0
	for i := len(k.releases); i > 0 && k.releases[i-1] >= from; i-- {
		n++
	}
	if n == 0 {
		return s.maximum()
	}
	people := float64(s.position - 1)
	if s.held {
		people++
	}
	return people * (s.now - from) / float64(n)
}

// regressed goes on along the line through the last 50 grants, from ticket to time.
func regressed(k *known, s *sight) float64 {
	if len(k.grants) < 3 {
		return s.maximum()
	}
	var f fit
	zero := k.grants[0]
	for _, g := range k.grants {
		f.add(float64(g.ticket-zero.ticket), g.at-zero.at)
	}
	last := k.grants[len(k.grants)-1]
	return f.slope()*float64(s.ticket-last.ticket) - (s.now - last.at)
}

// quantile is a quantile of the sum: the live lease's rest and a holding for each ahead, by the moments of
// the last 50 (Cornish and Fisher's first term).
func quantile(z float64) whole {
	return func(k *known, s *sight) float64 {
		if len(k.sorted.asc) < 3 {
			return s.maximum()
		}
		all, rest := about(k.sorted.asc, 0), cumulants{}
		if i := k.sorted.longer(s.elapsed); s.held && i < len(k.sorted.asc) {
			rest = about(k.sorted.asc[i:], s.elapsed)
		}
		n := float64(s.position - 1)
		mean, variance, third := rest.mean+n*all.mean, rest.variance+n*all.variance, rest.third+n*all.third
		if variance < 1e-9 {
			return mean
		}
		return mean + z*math.Sqrt(variance) + (z*z-1)/6*third/variance
	}
}

type cumulants struct{ mean, variance, third float64 }

func about(v []float64, less float64) cumulants {
	m := mean(v)
	c := cumulants{mean: m - less}
	for _, x := range v {
		d := x - m
		c.variance += d * d
		c.third += d * d * d
	}
	n := float64(len(v))
	c.variance, c.third = c.variance/n, c.third/n
	return c
}

// truth knows the mean from which holdings are drawn, which no server can.
func truth(k *known, s *sight) float64 {
	rest := 0.0
	if s.held {
		rest = lessElapsed(k, k.truth, s.elapsed)
	}
	return rest + float64(s.position-1)*k.truth
}
