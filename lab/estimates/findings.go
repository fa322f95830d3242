package main

import "slices"

// findings has all results of a run.
type findings struct {
	seeds      int
	estimators []estimator
	outcomes   []outcome
	ranked     []score
	firsts     string // their table
}

func (f *findings) judge() {
	for i, e := range f.estimators {
		f.ranked = append(f.ranked, judge(e, f.cells(i, anywhere)))
	}
	f.ranked = rank(f.ranked)
}

// where selects cells.
type where func(w world, band int) bool

func anywhere(world, int) bool { return true }

func ofHolding(name string) where {
	return func(w world, _ int) bool { return w.holding.name == name }
}

func ofArrivals(name string) where {
	return func(w world, _ int) bool { return w.arrivals.name == name }
}

func ofBand(b int) where {
	return func(_ world, band int) bool { return band == b }
}

func (f *findings) cells(estimator int, in where) []result {
	var cells []result
	for _, o := range f.outcomes {
		for b, c := range o.cells[estimator] {
			if in(o.world, b) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// of judges one estimator over some cells.
func (f *findings) of(name string, in where) score {
	i := slices.IndexFunc(f.estimators, func(e estimator) bool { return e.name == name })
	return judge(f.estimators[i], f.cells(i, in))
}

func (f *findings) score(name string) score {
	return f.ranked[slices.IndexFunc(f.ranked, func(s score) bool { return s.name == name })]
}

// best returns the best allowed score.
func (f *findings) best() score {
	return f.ranked[slices.IndexFunc(f.ranked, func(s score) bool { return s.fault == "" })]
}

// covered returns the coverage over the worlds of one kind of hold times; "" = of all.
func (f *findings) covered(holding string) coverage {
	var all coverage
	for _, o := range f.outcomes {
		if holding == "" || o.world.holding.name == holding {
			all.plus(o.coverage)
		}
	}
	return all
}

func (f *findings) views() (n int) {
	for _, o := range f.outcomes {
		n += o.views
	}
	return n
}

func (f *findings) overMax() (n int) {
	for _, o := range f.outcomes {
		n += o.overMax
	}
	return n
}
