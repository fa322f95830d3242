// Package plot draws figures with axes as SVG that reads on light and dark pages.
package plot

import (
	"fmt"
	"math"
	"strings"
)

// Figure is a plot with axes. Left, Top, Width and Height describe the inner area.
type Figure struct {
	strings.Builder
	Left, Top, Width, Height float64
	xMax, yMax               float64
}

// Colours of a figure's series, in this order.
var Colours = []string{"#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#0e7490", "#a16207"}

const style = `<style>text{font:12px system-ui,sans-serif;fill:#1f2937}.title{font-size:14px;font-weight:600}` +
	`.grid{stroke:#d1d5db}</style>`

// New begins a figure; left is the margin at the left, and the axes end at xMax and yMax.
func New(title string, left, height, xMax, yMax float64) *Figure {
	f := &Figure{Left: left, Top: 52, Width: 720 - left - 20, Height: height, xMax: xMax, yMax: yMax}
	fmt.Fprintf(f, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %.0f" role="img" aria-label="%s">%s`, height+100, escape(title), style)
	fmt.Fprintf(f, `<rect width="720" height="%.0f" fill="#ffffff"/>`, height+100)
	f.Text(16, 22, "title", title)
	return f
}

// Text writes text at a position of the drawing.
func (f *Figure) Text(x, y float64, class, text string) {
	fmt.Fprintf(f, `<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, escape(text))
}

// Anchored is Text whose start, middle or end is at the position.
func (f *Figure) Anchored(x, y float64, anchor, text string) {
	fmt.Fprintf(f, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, escape(text))
}

// X and Y return the position of a value in the drawing.
func (f *Figure) X(v float64) float64 { return f.Left + f.Width*v/f.xMax }
func (f *Figure) Y(v float64) float64 { return f.Top + f.Height*(1-v/f.yMax) }

// Levels draws horizontal lines with their values.
func (f *Figure) Levels(count int, label func(float64) string) {
	for i := range count + 1 {
		v := f.yMax * float64(i) / float64(count)
		fmt.Fprintf(f, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" class="grid"/>`, f.Left, f.Left+f.Width,
			f.Y(v), f.Y(v))
		f.Anchored(f.Left-6, f.Y(v)+4, "end", label(v))
	}
}

// Legend names the series in the order of Colours.
func (f *Figure) Legend(names []string) {
	x := f.Left
	for i, n := range names {
		fmt.Fprintf(f, `<rect x="%.1f" y="34" width="12" height="12" fill="%s"/>`, x, Colours[i])
		f.Text(x+17, 44, "", n)
		x += 34 + 6.6*float64(len([]rune(n)))
	}
}

// Bar draws a bar on the axis.
func (f *Figure) Bar(x, width, v float64, colour string) {
	top := f.Y(min(v, f.yMax))
	fmt.Fprintf(f, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, top, width, f.Y(0)-top,
		colour)
}

// Line connects points.
func (f *Figure) Line(xs, ys []float64, colour string, dashed bool) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(f, `<polyline fill="none" stroke="%s" stroke-width="1.8"%s points="`, colour, dash)
	for i := range xs {
		fmt.Fprintf(f, "%.1f,%.1f ", f.X(xs[i]), f.Y(min(ys[i], f.yMax)))
	}
	f.WriteString(`"/>`)
}

// Done returns the whole drawing.
func (f *Figure) Done() string { return f.String() + "</svg>\n" }

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// Nice returns a round number that is not less than v.
func Nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if m*unit >= v {
			return m * unit
		}
	}
	return 10 * unit
}

// Bars draws a group for each name, with a bar for each series.
func Bars(title string, names, series []string, value func(name, series int) float64,
	label func(float64) string) string {
	top := 0.0
	for n := range names {
		for s := range series {
			top = max(top, value(n, s))
		}
	}
	f := New(title, 60, 260, float64(len(names)), Nice(top))
	f.Levels(4, label)
	f.Legend(series)
	group := f.Width / float64(len(names))
	width := group * 0.8 / float64(len(series))
	for n, name := range names {
		for s := range series {
			x := f.X(float64(n)) + group*0.1 + width*float64(s)
			f.Bar(x, width*0.92, value(n, s), Colours[s])
			f.Anchored(x+width/2, f.Y(min(value(n, s), f.yMax))-4, "middle", label(value(n, s)))
		}
		f.Anchored(f.X(float64(n)+0.5), f.Top+f.Height+18, "middle", name)
	}
	return f.Done()
}

// Rows draws horizontal bars with their names at the left.
func Rows(title string, names []string, values []float64, marked func(name string) bool,
	label func(float64) string) string {
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	f := New(title, 330, 22*float64(len(names)), top*1.12, 1)
	for i, name := range names {
		y, colour := f.Top+22*float64(i)-8, "#9ca3af"
		if marked(name) {
			colour = Colours[1]
		}
		f.Anchored(f.Left-8, y+13, "end", name)
		fmt.Fprintf(f, `<rect x="%.1f" y="%.1f" width="%.1f" height="17" fill="%s"/>`, f.Left, y,
			f.X(values[i])-f.Left, colour)
		f.Text(f.X(values[i])+5, y+13, "", label(values[i]))
	}
	return f.Done()
}
