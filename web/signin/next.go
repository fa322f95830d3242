package signin

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

const home = "/support"

// SafeNext returns next if it is a support page on this site, otherwise /support.
func SafeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 1024 || u.Scheme != "" || u.Host != "" || strings.Contains(next, "//") ||
		strings.ContainsFunc(next, notPlain) {
		return home
	}
	// The path is checked decoded, as a proxy or a browser may read it.
	if path.Clean(u.Path) != u.Path || strings.ContainsFunc(u.Path, ambiguous) || !within(u.Path, home) {
		return home
	}
	for _, way := range []string{"/sign-in", "/sign-out", "/oidc"} { // leads out again
		if within(u.Path, home+way) {
			return home
		}
	}
	return next
}

func within(page, dir string) bool { return page == dir || strings.HasPrefix(page, dir+"/") }

// notPlain reports whether browsers always encode a rune in a path or a query.
func notPlain(r rune) bool { return r <= ' ' || r > '~' || ambiguous(r) && r != '%' }

// ambiguous reports whether programs disagree about a rune. No name here contains one.
func ambiguous(r rune) bool { return unicode.IsControl(r) || r == '\\' || r == '%' }
