package brand

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// Colour is a colour of sRGB: red, green, blue.
type Colour [3]uint8

// readable is WCAG's least contrast of a text (AA).
const readable = 4.5

// The colours of static/css/base.css that a brand's colour is used on and beside.
var (
	lightCard = Colour{0xff, 0xff, 0xff} // also of the text on a button
	darkCard  = Colour{0x1a, 0x20, 0x27}
	darkPage  = Colour{0x0f, 0x13, 0x18} // also of the text on a button
	darkLine  = Colour{0x32, 0x3b, 0x46}
	darkRim   = Colour{0x55, 0x60, 0x6e}
)

// Parse parses "#rrggbb". A colour that is not readable on white, and white on it, is an error that names the
// nearest that is.
func Parse(text string) (c Colour, err error) {
	if len(text) != 7 || text[0] != '#' {
		return c, errors.New(`want # and six hex digits, such as "#1b64da"`)
	}
	if _, err := hex.Decode(c[:], []byte(text[1:])); err != nil {
		return c, errors.New(`want # and six hex digits, such as "#1b64da"`)
	}
	if ratio := contrast(c, lightCard); ratio < readable {
		// rounded down: 4.48 is not 4.5
		return c, fmt.Errorf("its contrast with white is %.1f:1, want at least %.1f:1, for the texts in it and "+
			"on it: the nearest colour that has it is %q", math.Floor(ratio*10)/10, readable, c.on(lightCard))
	}
	return c, nil
}

func (c Colour) String() string { return "#" + hex.EncodeToString(c[:]) }

// on returns the colour that is readable on a ground, nearest in lightness and of the same hue: darker on a
// light ground, lighter on a dark one.
func (c Colour) on(ground Colour) Colour {
	step := -1.0 / 512
	if luminance(ground) < 0.18 { // white contrasts more with it than black
		step = -step
	}
	for shade := toLCH(c); contrast(c, ground) < readable; shade.lightness += step {
		c = shade.colour()
	}
	return c
}

// shaded returns the colour with its lightness, from 0 = black to 1 = white, changed by a difference.
func (c Colour) shaded(by float64) Colour {
	shade := toLCH(c)
	shade.lightness += by
	return shade.colour()
}

// bright returns a dark colour with its lightness mirrored about one half, such as 0.7 for 0.3, and a light
// one as it is.
func (c Colour) bright() Colour {
	shade := toLCH(c)
	shade.lightness = max(shade.lightness, 1-shade.lightness)
	return shade.colour()
}

// into returns a ground with a share of the colour in it.
func (c Colour) into(ground Colour, share float64) (mixed Colour) {
	for i := range c {
		mixed[i] = uint8(math.Round(float64(c[i])*share + float64(ground[i])*(1-share)))
	}
	return mixed
}

// contrast returns WCAG's contrast of two colours, from 1 to 21.
func contrast(a, b Colour) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c Colour) float64 {
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// linear returns a channel's share of light.
func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// channel is the inverse of linear.
func channel(light float64) uint8 {
	v := 12.92 * light
	if light > 0.0031308 {
		v = 1.055*math.Pow(light, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * min(max(v, 0), 1)))
}
