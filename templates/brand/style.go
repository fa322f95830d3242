package brand

import (
	"fmt"
	"strings"
)

// Style returns the style sheet of a brand's colour, which follows the pages' own. The light theme has the
// colour itself. The dark theme has its hue, at least as light as the colour is dark, and readable; its pages
// stay neutral, since a tint of any other hue beside the card's looks wrong.
func Style(c Colour) *File {
	light := root(
		property{"accent", c},
		property{"accent-strong", c.shaded(-0.07)},
		property{"on-accent", lightCard},
		property{"tint", c.into(lightCard, 0.08)},
		property{"focus", c},
		property{"waiting-page", c.into(lightCard, 0.1)})
	c = c.bright().on(darkCard)
	dark := root(
		property{"accent", c},
		property{"accent-strong", c.shaded(0.07)},
		property{"on-accent", darkPage},
		property{"tint", c.into(darkCard, 0.14)},
		property{"focus", c},
		property{"waiting-page", darkPage},
		property{"waiting-card", darkCard},
		property{"waiting-line", darkLine},
		property{"waiting-rim", darkRim},
		property{"waiting-tint", c.into(darkCard, 0.14)})
	f := newFile("text/css; charset=utf-8", []byte(light+"@media (prefers-color-scheme:dark){"+dark+"}"))
	return &f
}

// property is a custom property of static/css.
type property struct {
	name  string
	value Colour
}

func root(properties ...property) string {
	var rules strings.Builder
	for _, p := range properties {
		fmt.Fprintf(&rules, "--%s:%s;", p.name, p.value)
	}
	return ":root{" + rules.String() + "}"
}
