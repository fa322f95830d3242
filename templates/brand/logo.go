package brand

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode"
)

// Logo is an image in its size on a page, in CSS pixels.
type Logo struct {
	File
	Width, Height int
}

// MostLogo is the maximum size of a logo's file in bytes: a page loads it before a seller reads anything.
const MostLogo = 64 << 10

// The box that a logo fills.
const (
	logoWidth  = 132
	logoHeight = 28
)

const (
	longestSide = 1e6  // of an SVG, in units of its own
	longestPNG  = 4096 // pixels: a browser decodes all of them
)

// ReadLogo checks that browsers can show a logo, and returns it.
func ReadLogo(content []byte) (*Logo, error) {
	kind := http.DetectContentType(content)
	var width, height float64
	var err error
	switch {
	case len(content) > MostLogo:
		err = fmt.Errorf("it is over %d KiB: want a smaller one", MostLogo>>10)
	case kind == "image/png":
		width, height, err = sizeOfPNG(content)
	case strings.HasPrefix(kind, "text/"):
		kind = "image/svg+xml"
		width, height, err = sizeOfSVG(content)
	default:
		err = fmt.Errorf("it is %s: want a PNG or an SVG", kind)
	}
	if err != nil {
		return nil, err
	}
	scale := min(logoWidth/width, logoHeight/height)
	return &Logo{newFile(kind, content), pixels(width * scale), pixels(height * scale)}, nil
}

func pixels(length float64) int { return max(int(math.Round(length)), 1) }

func sizeOfPNG(content []byte) (width, height float64, err error) {
	header, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return 0, 0, fmt.Errorf("it is no PNG that can be read (%w): want a PNG or an SVG", err)
	}
	if max(header.Width, header.Height) > longestPNG {
		return 0, 0, fmt.Errorf("it has %d x %d pixels: want at most %d on a side", header.Width, header.Height,
			longestPNG)
	}
	return float64(header.Width), float64(header.Height), nil
}

// sizeOfSVG reads the first element. Without the namespace, browsers show no image.
func sizeOfSVG(content []byte) (width, height float64, err error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	for {
		token, err := d.Token()
		if err != nil {
			return 0, 0, fmt.Errorf("it is no SVG that can be read (%w): want a PNG or an SVG", err)
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root.Name.Local != "svg" || root.Name.Space != "http://www.w3.org/2000/svg" {
			return 0, 0, errors.New(`it is no SVG: want a PNG or an SVG, with xmlns="http://www.w3.org/2000/svg"`)
		}
		return sizeOf(root)
	}
}

// sizeOf returns the sides of an SVG's viewBox, or else its width and height.
func sizeOf(svg xml.StartElement) (width, height float64, err error) {
	sides := make([]string, 2)
	for _, a := range svg.Attr {
		switch a.Name.Local {
		case "viewBox":
			box := strings.FieldsFunc(a.Value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
			if len(box) == 4 {
				sides = box[2:]
			}
		case "width":
			sides[0] = cmp.Or(sides[0], strings.TrimSuffix(a.Value, "px"))
		case "height":
			sides[1] = cmp.Or(sides[1], strings.TrimSuffix(a.Value, "px"))
		}
	}
	width, wrongWidth := strconv.ParseFloat(sides[0], 64)
	height, wrongHeight := strconv.ParseFloat(sides[1], 64)
	if wrongWidth != nil || wrongHeight != nil || !(width > 0 && height > 0 && width+height < longestSide) {
		return 0, 0, errors.New(`it has no size: want a viewBox, such as viewBox="0 0 120 28"`)
	}
	return width, height, nil
}
