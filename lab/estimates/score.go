package main

import (
	"cmp"
	"math"
	"slices"
)

// The rule that chooses an estimator. It was written down before the study was run; the order within point 4
// was reversed after first runs, as lab/estimates.md says.
//
//  1. A cell is a world and a band of positions with at least 300 views. Its error is the geometric mean of
//     the median and the 90th percentile of the relative error, each at least 1 %.
//  2. The score is the geometric mean of the errors of all cells, each counting the same.
//  3. Relative errors forgive too short estimates (none is more than 100 % too low), and sellers do not: the
//     mean bias of the cells must not be under −10 %. Nor must the estimate jump up more often than with the
//     previous rule.
//  4. Of the estimators whose score is at most 10 % over the best, the simplest is chosen: nothing new in the
//     mirror, then the fewest numbers kept in Redis, then sent to mirrors, then the better score.
const (
	leastViews = 300
	floor      = 0.01
	lowest     = -0.10
	near       = 1.10
)

// score is one estimator over all cells.
type score struct {
	estimator
	Score, Symmetric float64
	Median, P90      float64
	Bias             float64
	Jumps, Jumped    float64
	fault            string // why it can not be chosen
}

func (r result) error() float64     { return math.Sqrt(max(r.Median, floor) * max(r.P90, floor)) }
func (r result) symmetric() float64 { return math.Sqrt(max(r.SymMedian, floor) * max(r.SymP90, floor)) }

// judge computes one estimator's score over cells.
func judge(e estimator, cells []result) score {
	s := score{estimator: e}
	n, jumping := 0.0, 0.0
	for _, c := range cells {
		if c.Views < leastViews {
			continue
		}
		n++
		s.Score += math.Log(c.error())
		s.Symmetric += math.Log(c.symmetric())
		s.Median += math.Log(max(c.Median, floor))
		s.P90 += math.Log(max(c.P90, floor))
		s.Bias += c.Bias
		s.Jumps += c.Jumps
		s.Jumped += c.Jumps * c.Jumped
		jumping += c.Jumps
	}
	for _, x := range []*float64{&s.Score, &s.Symmetric, &s.Median, &s.P90} {
		*x = math.Exp(*x / n)
	}
	s.Bias, s.Jumps, s.Jumped = s.Bias/n, s.Jumps/n, s.Jumped/max(jumping, 1e-9)
	return s
}

// rank sorts by score and marks which estimators are allowed.
func rank(scores []score) []score {
	i := slices.IndexFunc(scores, func(s score) bool { return s.name == before })
	jumps := scores[i].Jumps
	for i := range scores {
		switch s := &scores[i]; {
		case s.name == reference:
			s.fault = "it cannot be known"
		case s.Bias < lowest:
			s.fault = "promises too little"
		case s.Jumps > jumps:
			s.fault = "jumps more often than " + was
		}
	}
	slices.SortStableFunc(scores, func(a, b score) int { return cmp.Compare(a.Score, b.Score) })
	return scores
}

// choose applies point 4 of the rule.
func choose(ranked []score) score {
	var best []score
	for _, s := range ranked {
		if s.fault == "" && (len(best) == 0 || s.Score <= near*best[0].Score) {
			best = append(best, s)
		}
	}
	return slices.MinFunc(best, func(a, b score) int {
		return cmp.Or(cmp.Compare(len(a.cost.mirror), len(b.cost.mirror)), cmp.Compare(a.cost.kept, b.cost.kept),
			cmp.Compare(a.cost.sent, b.cost.sent), cmp.Compare(a.Score, b.Score))
	})
}
