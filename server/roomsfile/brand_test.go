package roomsfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const svgLogo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 28"/>`

// branded writes a rooms file, and a logo beside it.
func branded(t *testing.T, text, logo string) Checks {
	t.Helper()
	c := write(t, text)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(c.Path), "logo.svg"), []byte(logo), 0o600))
	return c
}

func TestARoomHasTheBrandOfAPortal(t *testing.T) {
	f, err := Read(branded(t, `
a:*:
  brand: {name: {ko: 가나, en: Acme}, logo: logo.svg, colour: "#6b3fa0"}
a:b: {brand: {colour: "#E4002B"}}
a:c: {brand: {logo: "", colour: ""}}
`, svgLogo))
	require.NoError(t, err)
	wide, red, plain := f.Of("a:x").Brand, f.Of("a:b").Brand, f.Of("a:c").Brand
	require.Equal(t, []string{"가나", "Acme", "Acme"},
		[]string{wide.Name.In("ko"), wide.Name.In("en"), wide.Name.In("ja")})
	require.Equal(t, svgLogo, string(wide.Logo.Content))
	require.Contains(t, string(wide.Style.Content), "--accent:#6b3fa0")
	require.Equal(t, wide.Logo, red.Logo)
	require.Contains(t, string(red.Style.Content), "--accent:#e4002b")
	require.Equal(t, Brand{Name: wide.Name}, plain)
	require.Equal(t, Brand{}, f.Of("other").Brand)
}

func TestAWrongBrandIsNamedWithItsLine(t *testing.T) {
	for lines, want := range map[string]string{
		`brand: "#1b64da"`:                 `:2: r: brand: want name and logo and colour under it`,
		"brand:\n    color: red":           `:3: r: brand.color is no key: do you mean brand.colour?`,
		"brand:\n    colour: #1b64da":      `:3: r: brand.colour is empty: want it in quotes, such as "#1b64da"`,
		"brand:\n    colour: blue":         `:3: r: brand.colour is "blue": want # and six hex digits`,
		"brand:\n    colour: [a]":          `:3: r: brand.colour is a list: want one value`,
		"brand:\n    colour: '#fee500'":    `:3: r: brand.colour is "#fee500": its contrast with white is 1.2:1, want at least 4.5:1, for the texts in it and on it: the nearest colour that has it is "#857700"`,
		"brand:\n    name: [a]":            `:3: r: brand.name is a list: want one value`,
		"brand:\n    name: {fr: a}":        `:3: r: brand.name has a language that the page is not in`,
		"brand:\n    logo: logo.svg":       `:3: r: brand.logo has no brand.name beside it: want the name too`,
		"brand:\n    logo: {a: b}":         `:3: r: brand.logo is a group: want one value`,
		"brand:\n    name: A\n    logo: a": `:4: r: brand.logo is "a": can not be read: open `,
		"brand:\n    name: A\n    logo: https://portal.example/logo.svg": `:4: r: brand.logo is "https://portal.example/logo.svg": ` +
			`want a file beside this one: the page asks no other site for it`,
		"brand:\n    name: A\n    logo: rooms.yaml": `:4: r: brand.logo is "rooms.yaml": it is no SVG that can be read`,
	} {
		_, err := Read(branded(t, "r:\n  "+lines+"\n", svgLogo))
		require.ErrorContains(t, err, want)
	}
	_, err := Read(branded(t, "r:*:\n  brand: {name: A, logo: logo.svg}\nr:a:\n  brand:\n    name: ''\nr:a:b:\n  phone: 1588\n",
		svgLogo))
	require.ErrorContains(t, err, ":5: r:a: brand.logo has no brand.name")
	require.NotContains(t, err.Error(), ":1:")
}
