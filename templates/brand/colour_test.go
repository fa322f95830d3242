package brand

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// each calls f for colours of all hues, and for every grey.
func each(f func(Colour)) {
	const step = 17
	for red := 0; red <= 255; red += step {
		for green := 0; green <= 255; green += step {
			for blue := 0; blue <= 255; blue += step {
				f(Colour{uint8(red), uint8(green), uint8(blue)})
			}
		}
	}
	for grey := range 256 {
		f(Colour{uint8(grey), uint8(grey), uint8(grey)})
	}
}

// nearestIn returns the colour that a refusal names.
func nearestIn(t *testing.T, err error) string {
	t.Helper()
	_, quoted, ok := strings.Cut(err.Error(), "nearest colour that has it is ")
	require.True(t, ok, err)
	return strings.Trim(quoted, `"`)
}

func TestARefusedColourComesWithTheNearestThatIsTaken(t *testing.T) {
	taken := 0
	each(func(c Colour) {
		_, err := Parse(c.String())
		if contrast(c, lightCard) >= readable {
			require.NoError(t, err)
			taken++
			return
		}
		require.Error(t, err)
		near, err := Parse(nearestIn(t, err))
		require.NoError(t, err, c)
		require.Less(t, contrast(near, lightCard), readable+0.15, "%s: %s is further than it need be", c, near)
	})
	require.Greater(t, taken, 1000)

	for text, near := range map[string]string{"#fee500": "#857700", "#03c75a": "#00893c", "#FFFFFF": "#767676"} {
		_, err := Parse(text)
		require.Equal(t, near, nearestIn(t, err))
	}
	_, err := Parse("#777777")
	require.ErrorContains(t, err, "is 4.4:1, want at least 4.5:1", "4.48 is not 4.5")
	for _, text := range []string{"", "red", "#fff", "1b64da", "#1b64dg", "#1b64da80", "rgb(1,2,3)"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, `want # and six hex digits, such as "#1b64da"`, text)
	}
}

// themes returns the properties of :root in a style sheet, in the light theme and in the dark one.
func themes(t *testing.T, css string) (light, dark map[string]Colour) {
	t.Helper()
	pattern := regexp.MustCompile(`--([a-z-]+):\s*(#[0-9a-f]{6})\b`)
	found := make([]map[string]Colour, 2)
	for i, block := range regexp.MustCompile(`(?s):root\s*{(.*?)}`).FindAllStringSubmatch(css, -1) {
		found[i] = make(map[string]Colour)
		for _, p := range pattern.FindAllStringSubmatch(block[1], -1) {
			var c Colour
			_, err := fmt.Sscanf(p[2], "#%02x%02x%02x", &c[0], &c[1], &c[2])
			require.NoError(t, err)
			found[i][p[1]] = c
		}
	}
	return found[0], found[1]
}

func TestABrandsColourHasContrastInBothThemes(t *testing.T) {
	base, err := os.ReadFile("../../static/css/base.css")
	require.NoError(t, err)
	baseLight, baseDark := themes(t, string(base))
	require.Equal(t, []Colour{lightCard, darkCard, darkPage, darkLine, darkRim}, []Colour{baseLight["card"],
		baseDark["card"], baseDark["page"], baseDark["line"], baseDark["rim"]})
	each(func(c Colour) {
		c = c.on(lightCard)
		light, dark := themes(t, string(Style(c).Content))
		require.Equal(t, c, light["accent"], "the light theme has the colour itself")
		for theme, p := range map[string][2]map[string]Colour{"light": {baseLight, light}, "dark": {baseDark, dark}} {
			ink, soft, card, page := p[0]["ink"], p[0]["ink-soft"], p[0]["card"], p[0]["page"]
			own := p[1]
			for pair, got := range map[string][2]Colour{
				"text in it":                  {own["accent"], card},
				"text on a button":            {own["on-accent"], own["accent"]},
				"text on a button, hovered":   {own["on-accent"], own["accent-strong"]},
				"text on a tint":              {ink, own["tint"]},
				"soft text on a tint":         {soft, own["tint"]},
				"text on a waiting page":      {ink, own["waiting-page"]},
				"soft text on a waiting page": {soft, own["waiting-page"]},
			} {
				require.GreaterOrEqual(t, contrast(got[0], got[1]), readable, "%s, %s: %s", c, theme, pair)
			}
			for pair, got := range map[string][2]Colour{
				"a picture on a tint":         {own["accent"], own["tint"]},
				"the focus on a page":         {own["focus"], page},
				"the focus on a waiting page": {own["focus"], own["waiting-page"]},
				"the focus on a card":         {own["focus"], card},
			} {
				require.GreaterOrEqual(t, contrast(got[0], got[1]), 3.0, "%s, %s: %s", c, theme, pair)
			}
		}
	})
}
