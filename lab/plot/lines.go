package plot

import (
	"fmt"
	"math"
)

// Series is one curve.
type Series struct {
	Name   string
	X, Y   []float64
	Dashed bool
}

const (
	lineHeight = 260
	ticks      = 5
)

// Lines draws curves over one labelled axis, with a dot at each point.
func Lines(title, axis string, series []Series, label func(float64) string) string {
	right, top := 0.0, 0.0
	for _, s := range series {
		for i := range s.X {
			right, top = max(right, s.X[i]), max(top, s.Y[i])
		}
	}
	f := New(title, 70, lineHeight, Nice(some(right)), Nice(some(top)))
	f.Levels(4, label)
	for i := range ticks + 1 {
		v := f.xMax * float64(i) / ticks
		f.Anchored(f.X(v), f.Top+f.Height+18, "middle", short(v))
	}
	f.Anchored(f.Left+f.Width/2, f.Top+f.Height+38, "middle", axis)
	names := make([]string, len(series))
	for i, s := range series {
		names[i] = s.Name
		f.Line(s.X, s.Y, Colours[i], s.Dashed)
		for j := range s.X {
			fmt.Fprintf(f, `<circle cx="%.1f" cy="%.1f" r="2.6" fill="%s"><title>%s: %s</title></circle>`,
				f.X(s.X[j]), f.Y(s.Y[j]), Colours[i], escape(s.Name), label(s.Y[j]))
		}
	}
	f.Legend(names)
	return f.Done()
}

// some returns v as the length of an axis, which must not be zero.
func some(v float64) float64 {
	if v <= 0 {
		return 1
	}
	return v
}

func short(v float64) string {
	if v == math.Trunc(v) || v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
