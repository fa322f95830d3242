package roomsfile

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waitroom/waitroom/templates/brand"
)

// text parses a displayed line: one for all languages, or one per language.
func text(most int, field func(*Entry) *Text) func(*reader, *draft, *node) error {
	return func(r *reader, d *draft, v *node) error {
		if v.kind == group {
			return r.translated(d, v, most, field)
		}
		return single(func(text string) (Text, error) {
			if !fits(text, most) {
				return nil, fmt.Errorf("want one line of at most %d characters", most)
			}
			return Text{"": text}, nil
		}, field)(r, d, v)
	}
}

// translated parses one line per language. Missing languages get English, or else the first.
func (r *reader) translated(d *draft, v *node, most int, field func(*Entry) *Text) error {
	if len(v.pairs) == 0 {
		return errors.New("is empty: want one line, or one for each language")
	}
	lines := make(Text, len(v.pairs)+1)
	for _, p := range v.pairs {
		lang, line := p.key.text, strings.TrimSpace(p.value.text)
		switch {
		case !slices.Contains(r.checks.Languages, lang):
			return fmt.Errorf("has a language that the page is not in: want %s",
				strings.Join(r.checks.Languages, ", "))
		case p.value.kind != scalar || line == "" || !fits(line, most):
			return fmt.Errorf("in %s is %s: want one line of at most %d characters", lang, p.value.shown(), most)
		}
		lines[lang] = line
	}
	lines[""] = strings.TrimSpace(v.pairs[0].value.text)
	if english, ok := lines["en"]; ok {
		lines[""] = english
	}
	d.set = append(d.set, func(e *Entry) { *field(e) = lines })
	return nil
}

func fits(text string, most int) bool {
	return utf8.RuneCountInString(text) <= most && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

var telephone = regexp.MustCompile(`^\+?[0-9](?:[ -]?[0-9]){1,19}$`)

// tel parses a telephone number; "" is none.
func tel(field func(*Entry) *string) func(*reader, *draft, *node) error {
	return single(func(text string) (string, error) {
		if text != "" && !telephone.MatchString(text) {
			return "", errors.New("want a telephone number of 2 to 20 digits, with spaces or hyphens between them " +
				"and + in front, such as 010-1234-5678")
		}
		return text, nil
	}, field)
}

// longestURL is a length that browsers and proxies accept.
const longestURL = 2000

// link parses the target of a page's link; "" is none.
func link(field func(*Entry) *string) func(*reader, *draft, *node) error {
	return single(func(text string) (string, error) {
		if text != "" && !safe(text) {
			return "", errors.New("want an https URL, such as https://seller.example/link (http on this machine only)")
		}
		return text, nil
	}, field)
}

// safe reports whether a page may link to text.
func safe(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.Trim(u.Hostname(), ".") == "" || len(text) > longestURL ||
		strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

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

// named checks that a logo has a name, which stands for it where no image is seen. It reports the fault only
// for an entry that has a key for the logo or the name itself, at that key's line.
func (r *reader) named(d *draft, e *Entry) {
	line := max(d.lines["brand.logo"], d.lines["brand.name"])
	if line == 0 || e.Brand.Logo == nil || e.Brand.Name.In("") != "" {
		return
	}
	r.wrong(line, "%s: brand.logo has no brand.name beside it: want the name too, for those who can not see "+
		"the logo", d.name)
}
