package brand

import "math"

// lch is a colour of OKLCH, in which equal steps of lightness look equal and keep the hue
// (https://bottosson.github.io/posts/oklab/). Its hue is the direction of a and b, its chroma their length.
type lch struct{ lightness, a, b float64 }

func toLCH(c Colour) lch {
	red, green, blue := linear(c[0]), linear(c[1]), linear(c[2])
	l := math.Cbrt(0.4122214708*red + 0.5363325363*green + 0.0514459929*blue)
	m := math.Cbrt(0.2119034982*red + 0.6806995451*green + 0.1073969566*blue)
	s := math.Cbrt(0.0883024619*red + 0.2817188376*green + 0.6299787005*blue)
	return lch{0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

// colour returns the colour of sRGB, with as much of the chroma as sRGB has at this lightness.
func (o lch) colour() Colour {
	if c, ok := o.with(1); ok {
		return c
	}
	none, all := 0.0, 1.0
	for range 12 {
		if half := (none + all) / 2; o.has(half) {
			none = half
		} else {
			all = half
		}
	}
	c, _ := o.with(none)
	return c
}

func (o lch) has(share float64) bool {
	_, ok := o.with(share)
	return ok
}

// with returns the colour with a share of the chroma, and whether sRGB has it.
func (o lch) with(share float64) (Colour, bool) {
	a, b := share*o.a, share*o.b
	l := cube(o.lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(o.lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(o.lightness - 0.0894841775*a - 1.2914855480*b)
	light := [3]float64{4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s}
	const rounding = 1e-4
	ok := true
	var c Colour
	for i, v := range light {
		ok = ok && v >= -rounding && v <= 1+rounding
		c[i] = channel(v)
	}
	return c, ok
}

func cube(v float64) float64 { return v * v * v }
