package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

const (
	beginMark = "<!-- tables: begin, written by make estimates -->\n"
	endMark   = "<!-- tables: end -->\n"
)

// put replaces this program's part of a file, or adds it at the end.
func put(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	part := beginMark + text + endMark
	before, rest, found := strings.Cut(string(old), beginMark)
	if !found {
		return os.WriteFile(path, []byte(strings.TrimRight(before, "\n")+"\n\n"+part), 0o644)
	}
	_, after, _ := strings.Cut(rest, endMark)
	return os.WriteFile(path, []byte(before+part+after), 0o644)
}

// table writes Markdown; the first column is text, the others are numbers.
type table struct{ strings.Builder }

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.row(append([]string{"---"}, strings.Split(strings.Repeat("--: ", len(head)-1), " ")[:len(head)-1]...)...)
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
func signed(x float64) string  { return fmt.Sprintf("%+.0f %%", 100*x) }
func number(x float64) string  { return fmt.Sprintf("%.3f", x) }

func (f *findings) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d worlds, %d seeds each, %d views of waiters who got the lock. Waits over "+
		"`maximum_wait`: %d.\n",
		len(f.outcomes), f.seeds, f.views(), f.overMax())
	section := func(title, text string) { fmt.Fprintf(&b, "\n### %s\n\n%s", title, text) }
	section(was+" and the chosen one, by how long sellers hold the lock",
		f.versus("holding", kinds(holdings(), func(h holding) string { return h.name }), ofHolding))
	section("… by how they come", f.versus("arrivals", []string{"light", "near capacity", "spike"}, ofArrivals))
	section("… by share of leavers", f.versus("leavers", []string{"0 %", "10 %", "30 %"}, func(s string) where {
		return func(w world, _ int) bool { return percent(w.leavers) == s }
	}))
	section("… by share of who goes away", f.versus("away", []string{"0 %", "10 %", "30 %"},
		func(s string) where {
			return func(w world, _ int) bool { return percent(w.away) == s }
		}))
	section("… by position", f.versus("position", bandNames(), func(s string) where {
		return func(_ world, band int) bool { return bands[band].name == s }
	}))
	section("Does the choice hang on how it is judged?", f.checked())
	section("What was tried", f.tried())
	section("How often a wait ends within the range", f.coverageTable())
	section("How often a wait ends within the range that the page shows, and how wide that is", f.usualTable())
	section("The first estimates of a room without an average of its own, without and with a history", f.firsts)
	b.WriteString("\n")
	return b.String()
}

func kinds[T any](all []T, name func(T) string) (names []string) {
	for _, t := range all {
		names = append(names, name(t))
	}
	return names
}

func bandNames() (names []string) {
	for _, b := range bands {
		names = append(names, b.name)
	}
	return names
}

// versus returns a table of the old rule beside the chosen one.
func (f *findings) versus(what string, names []string, in func(string) where) string {
	t := newTable(what, "median error: "+was, "chosen", "p90 error: "+was, "chosen", "bias: "+was, "chosen",
		"jumps up in 100 views: "+was, "chosen", "by: "+was, "chosen")
	line := func(name string, in where) {
		a, c := f.of(before, in), f.of(chosen, in)
		t.row(name, percent(a.Median), percent(c.Median), percent(a.P90), percent(c.P90), signed(a.Bias),
			signed(c.Bias),
			fmt.Sprintf("%.1f", a.Jumps), fmt.Sprintf("%.1f", c.Jumps), fmt.Sprintf("%.0f s", a.Jumped),
			fmt.Sprintf("%.0f s", c.Jumped))
	}
	for _, n := range names {
		line(n, in(n))
	}
	line("**all**", anywhere)
	return t.String()
}

// tried returns a table of the best, the chosen, and the estimators that were not combined with others.
func (f *findings) tried() string {
	t := newTable("level · live lease · ahead", "score", "over the best", "symmetric score", "median", "p90",
		"bias", "jumps up", "keeps", "tells", "mirror must know", "not allowed since it")
	best := f.best()
	for i, s := range f.ranked {
		if !shown(s.name) && i > 5 {
			continue
		}
		name := s.name
		if name == before || name == chosen {
			name = "**" + name + "**"
		}
		t.row(name, number(s.Score), signed(s.Score/best.Score-1), number(s.Symmetric), percent(s.Median),
			percent(s.P90), signed(s.Bias),
			fmt.Sprintf("%.1f", s.Jumps), fmt.Sprint(s.cost.kept), fmt.Sprint(s.cost.sent), cmp.Or(s.cost.mirror, "–"),
			cmp.Or(s.fault, "–"))
	}
	return t.String()
}

// shown reports whether an estimator is in the table: it differs in one part from the old or the chosen rule,
// or is built in another way.
func shown(name string) bool {
	parts := strings.Split(name, " · ")
	if len(parts) < 3 {
		return true
	}
	for _, like := range []string{before, chosen} {
		others := 0
		for i, p := range strings.Split(like, " · ") {
			if p != parts[i] {
				others++
			}
		}
		if others <= 1 {
			return true
		}
	}
	return name == reference
}

func (f *findings) coverageTable() string {
	t := newTable(append([]string{"range up to"}, append([]string{"holding"}, bandNames()...)...)...)
	for i, s := range spreads {
		for _, h := range append([]string{""}, kinds(holdings(), func(h holding) string { return h.name })...) {
			if h != "" && i != proposed && i != 0 {
				continue
			}
			c := f.covered(h)
			cells := []string{s.name, cmp.Or(h, "all")}
			for b := range bands {
				cells = append(cells, fmt.Sprintf("%.0f %%, + %.0f %%",
					100*float64(c.within[i][b])/max(float64(c.views[b]), 1), 100*c.width[i][b]/max(c.actual[b], 1)))
			}
			t.row(cells...)
		}
	}
	return t.String()
}

// usualTable has the range of the page before it is rounded outward to minutes: its width is a share of the
// wait.
func (f *findings) usualTable() string {
	t := newTable(append([]string{"holding"}, bandNames()...)...)
	for _, h := range append([]string{""}, kinds(holdings(), func(h holding) string { return h.name })...) {
		c := f.covered(h)
		cells := []string{cmp.Or(h, "all")}
		for b := range bands {
			cells = append(cells, fmt.Sprintf("%.0f %%, %.0f %%",
				100*float64(c.usual[b])/max(float64(c.views[b]), 1), 100*c.usualWidth[b]/max(c.actual[b], 1)))
		}
		t.row(cells...)
	}
	return t.String()
}
