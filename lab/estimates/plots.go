package main

import (
	"fmt"

	"github.com/waitroom/waitroom/lab/plot"
)

// plots returns the figures of lab/estimates.md by name.
func (f *findings) plots() map[string]string {
	return map[string]string{
		"scores":   f.plotScores(),
		"bands":    f.plotBands(),
		"jumps":    f.plotJumps(),
		"trace":    plotTrace(),
		"coverage": f.plotCoverage(),
	}
}

func (f *findings) plotScores() string {
	names := []string{
		reference, f.best().name, chosen, "warm EWMA 0.1 · less elapsed · everybody",
		"mean of 20 · less elapsed · everybody",
		"shrunk mean of 20 · less elapsed · everybody", before, "median of 50 · less elapsed · everybody",
		"trend of 50 · less elapsed · everybody",
		"EWMA 0.2 · less elapsed · by tickets", "EWMA 0.2 · less elapsed · by share", "ahead ÷ released per minute",
		"regression of the last 50 grants",
	}
	var values []float64
	for _, n := range names {
		values = append(values, f.score(n).Score)
	}
	return plot.Rows("Error over all cells, less is better (lease × position: "+
		number(f.score("lease · less elapsed · everybody").Score)+")",
		names, values, func(n string) bool { return n == before || n == chosen }, number)
}

func (f *findings) plotBands() string {
	return plot.Bars("Relative error by position", bandNames(),
		[]string{was + ", median", "chosen, median", was + ", p90", "chosen, p90"},
		func(n, s int) float64 {
			by := f.of([]string{before, chosen}[s%2], ofBand(n))
			return []float64{by.Median, by.P90}[s/2]
		}, func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) })
}

func (f *findings) plotJumps() string {
	names := kinds(holdings(), func(h holding) string { return h.name })
	return plot.Bars("How often the estimate jumps up, in 100 views", names, []string{was, "chosen"},
		func(n, s int) float64 {
			return f.of([]string{before, chosen}[s], ofHolding(names[n])).Jumps
		}, func(v float64) string { return fmt.Sprintf("%.1f", v) })
}

// plotTrace shows the estimates of one seller far back in a spike until it has the lock.
func plotTrace() string {
	one := world{holding: holdings()[1], arrivals: arrivals{name: "spike", load: 0.4,
		count: 200, spike: 200, at: spikeAt,
		every: 150}}
	s := newStudy([]estimator{find(before), find(chosen)})
	var times []float64
	var said [2][]float64
	s.settled = func(w *watched) {
		if len(w.views) <= len(times) {
			return
		}
		times, said = nil, [2][]float64{}
		for i, v := range w.views {
			times = append(times, (v.at-w.views[0].at)/60)
			for e := range said {
				said[e] = append(said[e], float64(w.said[2*i+e])/60)
			}
		}
		times = append(times, (s.now-w.views[0].at)/60)
	}
	s.run(one, 1)
	end := times[len(times)-1]
	f := plot.New("One seller in a spike, heavy-tailed holdings: minutes to go, over minutes waited", 60, 300,
		end, plot.Nice(end*1.3))
	f.Levels(6, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	f.Legend([]string{was, "chosen", "the truth"})
	for e := range said {
		f.Line(times[:len(said[e])], said[e], plot.Colours[e], false)
	}
	f.Line([]float64{0, end}, []float64{end, 0}, plot.Colours[2], true)
	for m := 0.0; m < end; m += 20 {
		f.Anchored(f.X(m), f.Top+f.Height+18, "middle", fmt.Sprintf("%.0f", m))
	}
	return f.Done()
}

func (f *findings) plotCoverage() string {
	names := append([]string{"all"}, kinds(holdings(), func(h holding) string { return h.name })[1:]...)
	return plot.Bars("How many waits end within the proposed range (meant: 80 %)", names, bandNames(),
		func(n, s int) float64 {
			name := names[n]
			if name == "all" {
				name = ""
			}
			c := f.covered(name)
			return float64(c.within[proposed][s]) / max(float64(c.views[s]), 1)
		}, func(v float64) string { return fmt.Sprintf("%.0f", 100*v) })
}

func find(name string) estimator {
	for _, e := range catalogue() {
		if e.name == name {
			return e
		}
	}
	panic("no estimator is called " + name)
}
