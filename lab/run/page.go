package main

import (
	_ "embed"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// rule is a threshold and whether it held.
type rule struct {
	Metric, Rule string
	Held         bool
}

// page writes the whole report as one self-contained file.
func (r *report) page(w io.Writer) error {
	var rules []rule
	for _, name := range slices.Sorted(maps.Keys(r.summary.Metrics)) {
		thresholds := r.summary.Metrics[name].Thresholds
		for _, text := range slices.Sorted(maps.Keys(thresholds)) {
			rules = append(rules, rule{name, text, thresholds[text].OK})
		}
	}
	if r.Scenario == "soak" {
		for _, p := range r.Processes {
			if p.judged() {
				rules = append(rules, rule{"memory of " + p.Name, "flat", p.SlopeOf.Flat})
			}
		}
	}
	return pageTemplate.Execute(w, map[string]any{"R": r, "Text": r.text, "Rules": rules, "Figures": r.figures(),
		"Held":  !slices.ContainsFunc(rules, func(r rule) bool { return !r.Held }),
		"Began": r.Began.Format(time.RFC1123)})
}

func (r *report) figures() []figure {
	s := r.Series
	both := func(metric, name string) []line {
		return []line{{name + ", median", s.P50[metric]}, {name + ", p99", s.P99[metric]}}
	}
	wrong := []line{{"two holders", s.Counts["two_holders"]}, {"overtaken", s.Counts["overtaken"]},
		{"places lost", s.Counts["lost_places"]},
		{"requests repeated", s.Counts["retries"]}}
	var memory, cpu []line
	for _, p := range r.Processes {
		var m, c []float64
		for _, u := range p.Samples {
			i := int(u.At.Sub(s.From) / time.Second)
			if i < 0 {
				continue
			}
			m, c = filled(m, i+1), filled(c, i+1)
			m[i], c[i] = u.RSS, u.CPU
		}
		memory, cpu = append(memory, line{p.Name, m}), append(cpu, line{p.Name, c})
	}
	all := []figure{
		{Title: "Handoff", Note: "from a holder's release being sent to the next holder's frame, one HTTP " +
			"request included", unit: "ms", lines: both("handoff_ms", "handoff")},
		{Title: "준비 완료", Note: "from the press to its answer", unit: "ms", lines: both("join_ms", "join")},
		{Title: "Handoffs", Note: "grants to waiting sellers", unit: "a second",
			lines: []line{{"handoffs", s.Counts["handoffs"]}, {"joins", s.Counts["joined"]}}},
		{Title: "Sockets and places", Note: "open at the end of each second", unit: "",
			lines: []line{{"sockets", s.Sockets}, {"live places", s.Places}}},
		{Title: "Sockets coming", Note: "from opening to the first state, and from losing one to the state on " +
			"the next (the client waits up to a second by itself)", unit: "ms",
			lines: append(both("first_frame_ms", "first state")[1:], both("back_ms", "back again")[1:]...)},
		{Title: "What must not be", Note: "0 all along; repeated requests are right only where a replica was " +
			"killed", unit: "a second", lines: wrong},
		{Title: "Memory", Note: "resident", unit: "MiB", lines: memory},
		{Title: "Processor", Note: "", unit: "cores", lines: cpu},
	}
	for i := range all {
		all[i].marks, all[i].from = r.Marks, s.From
	}
	return slices.DeleteFunc(all, func(f figure) bool { return strings.TrimSpace(f.empty()) != "" })
}

// empty returns why there is nothing to draw.
func (f figure) empty() string {
	for _, l := range f.lines {
		for _, v := range l.values {
			if v >= 0 {
				return ""
			}
		}
	}
	return "nothing was measured"
}

// filled returns a list of at least n values, with -1 for unknown ones.
func filled(list []float64, n int) []float64 {
	for len(list) < n {
		list = append(list, -1)
	}
	return list
}
