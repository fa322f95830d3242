package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// How sellers behave, in seconds.
const (
	patienceMedian = 300.0 // of those who may leave
	patienceSigma  = 0.8
	thereMean      = 600.0 // of those who go away now and then
	goneMean       = 120.0
	goneForGood    = 0.15
	awayAfter      = 15.0
	dropAfter      = 300.0
	spikeAt        = 3600.0
	spikeSize      = 1000
)

// arrivals says how sellers come: as a share of the room's capacity, and in a spike.
type arrivals struct {
	name  string
	load  float64
	count int // without the spike
	spike int
	at    float64 // of the spike
	every int     // of those who wait one in so many is watched
}

// world is one cell of the study.
type world struct {
	holding  holding
	arrivals arrivals
	leavers  float64 // share with a patience that ends
	away     float64 // share that goes away now and then
}

func (w world) String() string {
	return fmt.Sprintf("%s, %s, leavers %.0f %%, away %.0f %%", w.holding.name, w.arrivals.name, 100*w.leavers,
		100*w.away)
}

func worlds() []world {
	var all []world
	for _, h := range holdings() {
		for _, a := range []arrivals{
			{name: "light", load: 0.4, count: 1500, every: 1},
			{name: "near capacity", load: 0.95, count: 1500, every: 5},
			{name: "spike", load: 0.4, count: 600, spike: spikeSize, at: spikeAt, every: 50},
		} {
			for _, leavers := range []float64{0, 0.1, 0.3} {
				for _, away := range []float64{0, 0.1, 0.3} {
					all = append(all, world{h, a, leavers, away})
				}
			}
		}
	}
	return all
}

// times returns when sellers come, sorted except for those of the spike.
func (a arrivals) times(r *rand.Rand, hold float64) []float64 {
	times := make([]float64, 0, a.count+a.spike)
	for t := 0.0; len(times) < a.count; {
		t += r.ExpFloat64() * hold / a.load
		times = append(times, t)
	}
	for range a.spike {
		times = append(times, a.at+30*r.Float64())
	}
	return times
}

// patience returns how long a waiter waits before it leaves.
func (w world) patience(r *rand.Rand) float64 {
	if r.Float64() >= w.leavers {
		return math.Inf(1)
	}
	return patienceMedian * math.Exp(patienceSigma*r.NormFloat64())
}

// absence returns how long a waiter stays away.
func absence(r *rand.Rand) float64 {
	if r.Float64() < goneForGood {
		return math.Inf(1)
	}
	return goneMean * r.ExpFloat64()
}
