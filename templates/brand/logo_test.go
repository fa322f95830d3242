package brand

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg" `

func TestALogoFillsItsBox(t *testing.T) {
	for content, want := range map[string][2]int{
		string(pngOf(t, 64, 64)):       {28, 28},
		string(pngOf(t, 800, 100)):     {132, 17},
		string(pngOf(t, 1000, 1)):      {132, 1},
		svg + `viewBox="0 0 120 28"/>`: {120, 28},
		"<?xml version=\"1.0\"?>\n<!-- ours -->\n" + svg + "viewBox='0,0\n60,28' width='100%' height='2em'/>": {60, 28},
		"\uFEFF" + svg + `width="56px" height="28"></svg>`:                                                    {56, 28},
	} {
		logo, err := ReadLogo([]byte(content))
		require.NoError(t, err, content)
		require.Equal(t, want, [2]int{logo.Width, logo.Height}, content)
		require.Equal(t, content, string(logo.Content))
	}
}

func TestAWrongLogoIsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"":                                   "it is no SVG that can be read",
		"logo":                               "it is no SVG that can be read",
		"<svg viewBox='0 0 1 1'/>":           `want a PNG or an SVG, with xmlns="http://www.w3.org/2000/svg"`,
		"<!DOCTYPE html><html></html>":       "it is no SVG: want a PNG or an SVG",
		svg + ">":                            "it has no size: want a viewBox",
		svg + `viewBox="0 0 0 1"/>`:          "it has no size",
		svg + `viewBox="0 0 Inf 1"/>`:        "it has no size",
		svg + `width="100%" height="100%"/>`: "it has no size",
		"\x89PNG\r\n\x1a\n":                  "it is no PNG that can be read",
		"RIFF\x10\x00\x00\x00WEBPVP8 ":       "it is image/webp: want a PNG or an SVG",
		"\xff\xd8\xff\xe0":                   "it is image/jpeg: want a PNG or an SVG",
		svg + strings.Repeat(" ", MostLogo):  "it is over 64 KiB: want a smaller one",
	} {
		_, err := ReadLogo([]byte(content))
		require.ErrorContains(t, err, want, content)
	}
}
