package link

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is the margin of light modules that a reader needs (ISO/IEC 18004).
const quiet = 4

// QR is a QR code as the one path of an SVG of Size by Size, filled dark on light.
type QR struct {
	Size int    `json:"size"`
	Path string `json:"path"`
}

// Draw returns a code that stays readable with up to 15 % of it missing. It fails on a text of over some
// 2,300 bytes.
func Draw(text string) (*QR, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("draw a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			n := dark(code, x, y, size)
			if n > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quiet, y+quiet, n, n)
				x += n
			}
		}
	}
	return &QR{Size: size + 2*quiet, Path: path.String()}, nil
}

// dark returns the length of the run of dark modules in a row from x on.
func dark(code image.Image, x, y, size int) (n int) {
	for x+n < size && code.At(x+n, y) == color.Black {
		n++
	}
	return n
}
