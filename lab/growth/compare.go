package main

import (
	"fmt"
	"math"
)

// quantity is one of the rates, with its name on the page.
type quantity struct {
	name string
	at   *float64
}

// all returns all quantities. All but the numbers of people count events.
func (r *rates) all() []quantity {
	return []quantity{
		{"turns", &r.turns}, {"gave up", &r.leaves}, {"joins", &r.joins}, {"sockets opened", &r.opens},
		{"events", &r.events},
		{"deliveries", &r.deliveries}, {"frames", &r.frames}, {"snapshots", &r.snapshots},
		{"places in them", &r.places},
		{"waiting", &r.waiting}, {"holding", &r.holding}, {"rooms followed", &r.followed},
	}
}

func (r *rates) cores() []quantity {
	return []quantity{{"cores of Redis", &r.redis}, {"cores of replicas", &r.replica},
		{"cores of the database", &r.ledger}}
}

// tolerance is how far a formula may differ from the simulation beyond what chance explains.
const tolerance = 0.05

// compared has one quantity's value by simulation and by formula.
type compared struct {
	name            string
	played, formula float64
	off             float64 // formula over played, less 1
	agrees          bool
}

// compare compares the formulas with a simulation of a world.
func compare(f formulas, w world, n numbers, seconds float64, seed uint64) (list []compared) {
	played, counted := simulate(w, n, seconds, seed)
	formula := f.rates(w, n)
	rare := max(played.snapshots, formula.snapshots) < played.opens/100 // too few to cost anything
	add := func(p, q, times quantity) {
		c := compared{name: p.name, played: *p.at, formula: *q.at}
		c.off = c.formula/max(c.played, 1e-12) - 1
		chance := 4 / math.Sqrt(max(*times.at, 1)) // four standard deviations of as many independent ones
		c.agrees = math.Abs(c.off) <= tolerance+chance || p.at == &played.snapshots && rare ||
			p.at == &played.places && rare
		list = append(list, c)
	}
	for i, p := range played.all() {
		times := counted.all()[i]
		if p.at == &played.places {
			times.at = &counted.snapshots // they come by lines
		}
		add(p, formula.all()[i], times)
	}
	for i, p := range played.cores() {
		add(p, formula.cores()[i], quantity{"", &counted.joins})
	}
	return list
}

// disagreements returns the differences that are too large, as an error; nil = none.
func disagreements(list []compared) error {
	for _, c := range list {
		if !c.agrees {
			return fmt.Errorf("%s: the formula has %.4g, played it is %.4g (%+.1f %%)", c.name, c.formula, c.played,
				100*c.off)
		}
	}
	return nil
}
