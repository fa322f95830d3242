package main

import "slices"

// cost is what an estimator needs from the engine: numbers in a room's state, and numbers in every event.
// mirror names what a mirror does not have yet.
type cost struct {
	kept, sent int
	mirror     string
}

func (c cost) plus(d cost) cost {
	if d.mirror == "" {
		d.mirror = c.mirror
	}
	return cost{c.kept + d.kept, c.sent + d.sent, d.mirror}
}

type levelPart struct {
	name string
	make func() level
	cost cost
}

type residualPart struct {
	name string
	of   residual
	cost cost
}

type aheadPart struct {
	name string
	of   ahead
	cost cost
}

func listed(n int) cost { return cost{kept: n, sent: 1} }

func warmed(alpha float64) func() level { return func() level { return newEWMA(alpha, true) } }

func levelParts() []levelPart {
	one, counted := listed(1), listed(2)
	return []levelPart{
		{"lease", func() level { return fixed{} }, cost{}},
		{"EWMA 0.2", func() level { return newEWMA(0.2, false) }, one},
		{"EWMA 0.1", func() level { return newEWMA(0.1, false) }, one},
		{"EWMA 0.05", func() level { return newEWMA(0.05, false) }, one},
		{"warm EWMA 0.1", warmed(0.1), counted},
		{"warm EWMA 0.07", warmed(0.07), counted},
		{"warm EWMA 0.05", warmed(0.05), counted},
		{"warm EWMA 0.02", warmed(0.02), counted},
		{"warm EWMA 0.01", warmed(0.01), counted},
		{"mean of 10", func() level { return &last{n: 10} }, listed(10)},
		{"mean of 20", func() level { return &last{n: 20} }, listed(20)},
		{"mean of 50", func() level { return &last{n: 50} }, listed(50)},
		{"median of 10", func() level { return &last{n: 10, middle: true} }, listed(10)},
		{"median of 50", func() level { return &last{n: 50, middle: true} }, listed(50)},
		{"trend of 50", func() level { return &trend{last{n: 50}} }, listed(50)},
		{"shrunk mean of 20", func() level { return newShrunk(20, 20) }, listed(22)},
		{"half EWMA 0.2, half warm 0.02", func() level { return blend{newEWMA(0.2, false), newEWMA(0.02, true)} },
			listed(3)},
	}
}

func residualParts() []residualPart {
	return []residualPart{
		{"less elapsed", lessElapsed, cost{}},
		{"memoryless", memoryless, cost{}},
		{"at least h/4", atLeast(0.25), cost{}},
		{"at least h/2", atLeast(0.5), cost{}},
		{"at least left/4", atLeastLeft(0.25), cost{}},
		{"by moments", byMoments, cost{kept: 1, sent: 1}},
		{"by moments, median", byMomentsMiddle, cost{kept: 1, sent: 1}},
		{"median of last 20", byFew, cost{kept: 20, sent: 20}},
		{"median by bins", byBinsMiddle, cost{kept: binCount + 1, sent: binCount + 1}},
		{"by bins", byBins, cost{kept: binCount + 1, sent: binCount + 1}},
		{"mean of last 50", byLast, cost{kept: 50, sent: 50}},
		{"median of last 50", byMiddle, cost{kept: 50, sent: 50}},
	}
}

func aheadParts() []aheadPart {
	away, count := cost{mirror: "who is away"}, cost{sent: 1, mirror: "how many are away"}
	return []aheadPart{
		{"everybody", everybody, cost{}},
		{"by share", byShare, cost{kept: 1, sent: 1}},
		{"by tickets", byTickets, cost{kept: 2, sent: 2}},
		{"by hazard", byHazard, cost{kept: 3, sent: 1}},
		{"not the away", present, away},
		{"the away half", presentHalf, away},
		{"by tickets, not the away", presentTickets, away.plus(cost{kept: 2, sent: 2})},
		{"the away spread evenly", spreadEvenly, count},
		{"the away foremost", awayFirst, count},
		{"the away foremost, half", awayFirstHalf, count},
	}
}

// estimator is one candidate.
type estimator struct {
	name     string
	level    int
	residual residual
	ahead    ahead
	whole    whole
	cost     cost
}

// reference names an estimator that cannot be built; it shows the best possible score.
const reference = "the true mean · less elapsed · everybody"

// before names the rule that the product had until this study, and was is what tables and plots call it.
const (
	before = "EWMA 0.2 · less elapsed · everybody"
	was    = "EWMA 0.2 (before)"
)

// crossed are the parts that are tried with each other; every part is tried with the others of the rule of
// before.
var crossed = []string{
	"EWMA 0.2", "EWMA 0.1", "warm EWMA 0.1", "warm EWMA 0.05", "warm EWMA 0.02", "mean of 20", "mean of 50",
	"less elapsed", "by moments", "by moments, median", "median by bins", "median of last 20",
	"median of last 50",
	"everybody", "by tickets", "not the away", "the away spread evenly",
}

func catalogue() []estimator {
	var all []estimator
	for i, l := range levelParts() {
		for _, r := range residualParts() {
			for _, a := range aheadParts() {
				if tried(l.name, r.name, a.name) {
					all = append(all, estimator{name: l.name + " · " + r.name + " · " + a.name, level: i, residual: r.of,
						ahead: a.of,
						cost:  l.cost.plus(r.cost).plus(a.cost)})
				}
			}
		}
	}
	return append(all,
		estimator{name: "ahead ÷ released per minute", whole: released, cost: listed(40)},
		estimator{name: "regression of the last 50 grants", whole: regressed, cost: cost{kept: 100, sent: 3}},
		estimator{name: "median by the last 50", whole: quantile(0), cost: cost{kept: 50, sent: 50}},
		estimator{name: reference, whole: truth},
	)
}

func tried(level, residual, ahead string) bool {
	others, both := 0, true
	for i, part := range []string{level, residual, ahead} {
		if part != []string{"EWMA 0.2", "less elapsed", "everybody"}[i] {
			others++
		}
		both = both && slices.Contains(crossed, part)
	}
	return both || others <= 1
}

// estimate returns the estimate, between 0 and the maximum.
func (e *estimator) estimate(k *known, s *sight) float64 {
	if e.whole != nil {
		return min(max(e.whole(k, s), 0), s.maximum())
	}
	h, rest := k.holds[e.level], 0.0
	if s.held {
		rest = min(e.residual(k, h, s.elapsed), s.left)
	}
	return min(rest+e.ahead(k, s, h)*h, s.maximum())
}
