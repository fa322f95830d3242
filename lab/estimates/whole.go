package main

import "math"

// whole is an estimator that is not composed of a level, a residual and a count.
type whole func(k *known, s *sight) float64

// released divides those ahead, with the holder, by the recent releases a second.
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

// regressed continues the regression line of grant times by ticket through the last 50 grants.
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

// quantile returns a quantile of the wait. The wait is the sum of the remaining lease and a hold time for
// each waiter ahead, with the moments of the last 50 (first term of Cornish and Fisher).
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

// truth uses the true mean of hold times, which no server can know.
func truth(k *known, s *sight) float64 {
	rest := 0.0
	if s.held {
		rest = lessElapsed(k, k.truth, s.elapsed)
	}
	return rest + float64(s.position-1)*k.truth
}
