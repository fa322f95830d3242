package main

import (
	"math"
	"math/rand/v2"
)

// leaseLength is the length of a lease in seconds.
const leaseLength = 120.0

// holding is how long sellers hold the lock: a log-normal time, at most the lease.
type holding struct {
	name   string
	never  float64 // share whose code never comes: they hold to the lease's end
	sigma  float64 // 0 = always the median
	median func(t float64, seed uint64) float64
}

func always(seconds float64) func(float64, uint64) float64 {
	return func(float64, uint64) float64 { return seconds }
}

func holdings() []holding {
	return []holding{
		{name: "constant", median: always(45)},
		{name: "heavy tail", sigma: 1, median: always(25)},
		{name: "bimodal", never: 0.2, sigma: 0.35, median: always(22)},
		{name: "drifting", sigma: 0.4, median: tide},
		{name: "many expiring", never: 0.4, sigma: 0.5, median: always(35)},
		{name: "batches", sigma: 0.3, median: batch},
	}
}

// tide rises from 20 s to 70 s and falls back within six hours.
func tide(t float64, seed uint64) float64 {
	phase := float64(seed) * 2.4
	return 45 - 25*math.Cos(2*math.Pi*t/21600+phase)
}

// batch has another level in every hour.
func batch(t float64, seed uint64) float64 {
	hour := uint64(max(t, 0) / 3600)
	return []float64{12, 30, 60}[rand.New(rand.NewPCG(seed, hour)).IntN(3)]
}

// draw returns a random hold time that begins at t; leaseLength if the lease expires.
func (h holding) draw(r *rand.Rand, t float64, seed uint64) float64 {
	if r.Float64() < h.never {
		return leaseLength
	}
	return min(h.median(t, seed)*math.Exp(h.sigma*r.NormFloat64()), leaseLength)
}

// mean returns the expected value of draw.
func (h holding) mean(t float64, seed uint64) float64 {
	m := h.median(t, seed)
	if h.sigma > 0 {
		z := math.Log(leaseLength/m) / h.sigma
		m = m*math.Exp(h.sigma*h.sigma/2)*phi(z-h.sigma) + leaseLength*(1-phi(z))
	}
	return (1-h.never)*m + h.never*leaseLength
}

// dayMean returns the mean over a day.
func (h holding) dayMean(seed uint64) float64 {
	sum := 0.0
	for minute := range 1440 {
		sum += h.mean(float64(minute)*60, seed)
	}
	return sum / 1440
}

func phi(z float64) float64 { return (1 + math.Erf(z/math.Sqrt2)) / 2 }
