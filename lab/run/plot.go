package main

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"time"
)

const (
	plotWidth, plotHeight           = 860, 220
	plotLeft, plotRight             = 56, 12
	plotTop, plotBottom             = 10, 26
	plotTicks                       = 4
	innerWidth, innerHeight float64 = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// line is one curve: a value for each second, negative for none.
type line struct {
	name   string
	values []float64
}

// figure is one plot over time.
type figure struct {
	Title string
	Note  string
	unit  string
	lines []line
	marks []mark
	from  time.Time
}

// SVG draws the figure. Curves differ by colour and by their order in the legend; each has its numbers in its
// title.
func (f figure) SVG() template.HTML {
	seconds, top := 1, 0.0
	for _, l := range f.lines {
		seconds = max(seconds, len(l.values)-1)
		for _, v := range l.values {
			top = max(top, v)
		}
	}
	top = ceiling(top)
	x := func(s float64) float64 { return plotLeft + s/float64(seconds)*innerWidth }
	y := func(v float64) float64 { return plotTop + innerHeight - v/top*innerHeight }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight,
		html.EscapeString(f.Title))
	for i := range plotTicks + 1 {
		v := top * float64(i) / plotTicks
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft, plotWidth-plotRight, y(v), y(v), plotLeft-6, y(v)+4, number(v))
		s := float64(seconds*i) / plotTicks
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s s</text>`, min(x(s), plotWidth-20),
			plotHeight-8, number(math.Round(s)))
	}
	for _, m := range f.marks {
		at := x(m.At.Sub(f.from).Seconds())
		fmt.Fprintf(&b, `<line class="mark" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d">%s</text>`,
			at, at, plotTop, plotHeight-plotBottom, at+4, plotTop+10, html.EscapeString(m.What))
	}
	for i, l := range f.lines {
		fmt.Fprintf(&b, `<path class="c%d" d="%s"><title>%s</title></path>`, i, path(l.values, x, y),
			html.EscapeString(l.name))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

// path draws a curve. It draws a straight line over seconds without a value.
func path(values []float64, x, y func(float64) float64) string {
	var b strings.Builder
	for s, v := range values {
		if v < 0 {
			continue
		}
		verb := "L"
		if b.Len() == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, x(float64(s)), y(v))
	}
	return b.String()
}

// Legend names the curves in the order of their colours.
func (f figure) Legend() []string {
	var names []string
	for _, l := range f.lines {
		names = append(names, l.name)
	}
	return names
}

// Unit returns the unit of the numbers at the left.
func (f figure) Unit() string { return f.unit }

// ceiling returns a round number at or above v.
func ceiling(v float64) float64 {
	if v <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 5, 8} {
		if m*step >= v {
			return m * step
		}
	}
	return 10 * step
}

func number(v float64) string {
	switch {
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v < 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
