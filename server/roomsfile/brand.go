package roomsfile

import (
	"errors"
	"strings"

	"github.com/waitroom/waitroom/templates/brand"
)

// colour parses a brand's colour; "" is none.
func colour(r *reader, d *draft, v *node) error {
	if v.kind == nothing {
		return errors.New(`is empty: want it in quotes, such as "#1b64da", since YAML takes # for a comment`)
	}
	return single(func(text string) (*brand.File, error) {
		if text == "" {
			return nil, nil
		}
		c, err := brand.Parse(text)
		if err != nil {
			return nil, err
		}
		return brand.Style(c), nil
	}, func(e *Entry) **brand.File { return &e.Brand.Style })(r, d, v)
}

// logo reads a brand's logo from its file; "" is none.
func (r *reader) logo(d *draft, v *node) error {
	return single(func(path string) (*brand.Logo, error) {
		if path == "" {
			return nil, nil
		}
		if strings.Contains(path, "://") {
			return nil, errors.New("want a file beside this one: the page asks no other site for it")
		}
		content, err := r.readFile(path)
		if err != nil {
			return nil, err
		}
		return brand.ReadLogo(content)
	}, func(e *Entry) **brand.Logo { return &e.Brand.Logo })(r, d, v)
}

// named checks that a logo has a name, which stands for it where no image is seen. The entry is to blame that
// has one of the two.
func (r *reader) named(d *draft, e *Entry) {
	line := max(d.lines["brand.logo"], d.lines["brand.name"])
	if line == 0 || e.Brand.Logo == nil || e.Brand.Name.In("") != "" {
		return
	}
	r.wrong(line, "%s: brand.logo has no brand.name beside it: want the name too, for those who can not see "+
		"the logo", d.name)
}
