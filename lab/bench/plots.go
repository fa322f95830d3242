package main

import (
	"fmt"

	"github.com/waitroom/waitroom/lab/plot"
)

func (b *bench) draw(name, alt, axis string, series []plot.Series, label func(float64) string) {
	b.figures = append(b.figures, figure{name, alt, plot.Lines(alt, axis, series, label)})
}

func unit(format string) func(float64) string {
	return func(v float64) string { return fmt.Sprintf(format, v) }
}

func (b *bench) plotLatency(points []latencies) {
	half, most := plot.Series{Name: "p50"}, plot.Series{Name: "p99"}
	for _, p := range points {
		if p.overload {
			continue // a queue before us, and not a latency
		}
		half.X, half.Y = append(half.X, p.rate), append(half.Y, p.took.median())
		most.X, most.Y = append(most.X, p.rate), append(most.Y, p.took.at(.99))
	}
	b.draw("latency", "Release → next holder's frame on another replica, by load",
		"handoffs a second, each with a join, 200 rooms, two replicas",
		[]plot.Series{half, most}, unit("%.1f ms"))
}

func (b *bench) plotMemory(servers []*server) {
	var series []plot.Series
	for _, s := range servers {
		series = append(series, plot.Series{Name: s.name, X: s.sockets, Y: s.resident})
	}
	b.draw("memory", "Resident memory, by open sockets", "open sockets, idle", series, unit("%.0f MiB"))
}

func (b *bench) plotIdle(costs ...*idleCost) {
	var series []plot.Series
	for i, c := range costs {
		series = append(series, plot.Series{Name: "Redis, " + c.name, X: c.count, Y: c.redis, Dashed: i > 0},
			plot.Series{Name: "replica, " + c.name, X: c.count, Y: c.replica, Dashed: i > 0})
	}
	b.draw("idle", "What it costs that nothing happens",
		"waiters of one room, or rooms with a holder and a waiter each", series, unit("%.3f cores"))
}

func (b *bench) plotDrain(all ...*drainage) {
	var series []plot.Series
	for _, d := range all {
		series = append(series, plot.Series{Name: d.name, X: thinned(d.seconds), Y: thinned(d.left)})
	}
	b.draw("drain", "A ledger that catches up: entries of one room that are left", "seconds", series,
		unit("%.0f"))
}

const mostPoints = 40

// thinned returns a part of the points, including the first and the last.
func thinned(all []float64) (some []float64) {
	if len(all) <= mostPoints {
		return all
	}
	for i := range mostPoints {
		some = append(some, all[i*(len(all)-1)/(mostPoints-1)])
	}
	return some
}
