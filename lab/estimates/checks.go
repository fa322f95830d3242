package main

import (
	"cmp"
	"slices"
)

// check is another way to judge, which shows whether the choice depends on the rule.
type check struct {
	name    string
	in      where
	measure func(score) float64
}

func checks() []check {
	byRule := func(s score) float64 { return s.Score }
	return []check{
		{"by the rule", anywhere, byRule},
		{"too much and too little weigh the same", anywhere, func(s score) float64 { return s.Symmetric }},
		{"the median only", anywhere, func(s score) float64 { return s.Median }},
		{"the 90th percentile only", anywhere, func(s score) float64 { return s.P90 }},
		{"without constant holdings", func(w world, _ int) bool { return w.holding.sigma > 0 }, byRule},
		{"no seller leaves or goes away", func(w world, _ int) bool { return w.leavers+w.away == 0 }, byRule},
		{"30 % leave, 30 % go away", func(w world, _ int) bool { return w.leavers == 0.3 && w.away == 0.3 },
			byRule},
		{"the first twenty", func(_ world, band int) bool { return bands[band].to <= 20 }, byRule},
		{"behind the first twenty", func(_ world, band int) bool { return bands[band].to > 20 }, byRule},
	}
}

// checked returns a table that shows, for each way to judge, how far the old rule and the chosen one are from
// the best allowed one.
func (f *findings) checked() string {
	t := newTable("judged", was+" over the best", "the chosen over the best", "the best")
	for _, c := range checks() {
		var scores []score
		for i, e := range f.estimators {
			if f.score(e.name).fault == "" {
				scores = append(scores, judge(e, f.cells(i, c.in)))
			}
		}
		value := func(name string) float64 {
			return c.measure(scores[slices.IndexFunc(scores, func(s score) bool { return s.name == name })])
		}
		best := slices.MinFunc(scores, func(a, b score) int { return cmp.Compare(c.measure(a), c.measure(b)) })
		t.row(c.name, signed(value(before)/c.measure(best)-1), signed(value(chosen)/c.measure(best)-1), best.name)
	}
	return t.String()
}
