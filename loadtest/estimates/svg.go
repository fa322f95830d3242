package main

import (
	"fmt"
	"math"
	"strings"
)

// figure is a plot with axes, as SVG that reads on light and dark pages.
type figure struct {
	strings.Builder
	left, top, width, height float64
	xMax, yMax               float64
}

var colours = []string{"#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#0e7490", "#a16207"}

const style = `<style>text{font:12px system-ui,sans-serif;fill:#1f2937}.title{font-size:14px;font-weight:600}` +
	`.grid{stroke:#d1d5db}</style>`

func newFigure(title string, left, height, xMax, yMax float64) *figure {
	f := &figure{left: left, top: 52, width: 720 - left - 20, height: height, xMax: xMax, yMax: yMax}
	fmt.Fprintf(f, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %.0f" role="img" aria-label="%s">%s`, height+100, title, style)
	fmt.Fprintf(f, `<rect width="720" height="%.0f" fill="#ffffff"/>`, height+100)
	f.text(16, 22, "title", title)
	return f
}

func (f *figure) text(x, y float64, class, text string) {
	fmt.Fprintf(f, `<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, text)
}

func (f *figure) anchored(x, y float64, anchor, text string) {
	fmt.Fprintf(f, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, text)
}

func (f *figure) x(v float64) float64 { return f.left + f.width*v/f.xMax }
func (f *figure) y(v float64) float64 { return f.top + f.height*(1-v/f.yMax) }

// levels draws horizontal lines with their values.
func (f *figure) levels(count int, label func(float64) string) {
	for i := range count + 1 {
		v := f.yMax * float64(i) / float64(count)
		fmt.Fprintf(f, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" class="grid"/>`, f.left, f.left+f.width, f.y(v), f.y(v))
		f.anchored(f.left-6, f.y(v)+4, "end", label(v))
	}
}

func (f *figure) legend(names []string) {
	x := f.left
	for i, n := range names {
		fmt.Fprintf(f, `<rect x="%.1f" y="34" width="12" height="12" fill="%s"/>`, x, colours[i])
		f.text(x+17, 44, "", n)
		x += 34 + 6.6*float64(len([]rune(n)))
	}
}

func (f *figure) bar(x, width, v float64, colour string) {
	top := f.y(min(v, f.yMax))
	fmt.Fprintf(f, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, top, width, f.y(0)-top, colour)
}

func (f *figure) line(xs, ys []float64, colour string, dashed bool) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(f, `<polyline fill="none" stroke="%s" stroke-width="1.8"%s points="`, colour, dash)
	for i := range xs {
		fmt.Fprintf(f, "%.1f,%.1f ", f.x(xs[i]), f.y(min(ys[i], f.yMax)))
	}
	f.WriteString(`"/>`)
}

func (f *figure) done() string { return f.String() + "</svg>\n" }

// nice is a round number not under v.
func nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if m*unit >= v {
			return m * unit
		}
	}
	return 10 * unit
}

// bars draws a group for each name, with a bar for each series.
func bars(title string, names, series []string, value func(name, series int) float64, label func(float64) string) string {
	top := 0.0
	for n := range names {
		for s := range series {
			top = max(top, value(n, s))
		}
	}
	f := newFigure(title, 60, 260, float64(len(names)), nice(top))
	f.levels(4, label)
	f.legend(series)
	group := f.width / float64(len(names))
	width := group * 0.8 / float64(len(series))
	for n, name := range names {
		for s := range series {
			x := f.x(float64(n)) + group*0.1 + width*float64(s)
			f.bar(x, width*0.92, value(n, s), colours[s])
			f.anchored(x+width/2, f.y(min(value(n, s), f.yMax))-4, "middle", label(value(n, s)))
		}
		f.anchored(f.x(float64(n)+0.5), f.top+f.height+18, "middle", name)
	}
	return f.done()
}

// rows draws one bar after the other from left to right, with their names before them.
func rows(title string, names []string, values []float64, marked func(name string) bool, label func(float64) string) string {
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	f := newFigure(title, 330, 22*float64(len(names)), top*1.12, 1)
	for i, name := range names {
		y, colour := f.top+22*float64(i)-8, "#9ca3af"
		if marked(name) {
			colour = colours[1]
		}
		f.anchored(f.left-8, y+13, "end", name)
		fmt.Fprintf(f, `<rect x="%.1f" y="%.1f" width="%.1f" height="17" fill="%s"/>`, f.left, y, f.x(values[i])-f.left, colour)
		f.text(f.x(values[i])+5, y+13, "", label(values[i]))
	}
	return f.done()
}
