package signin

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

const home = "/support"

// SafeNext is where to go after signing in: next where it is a page of support's on this site, else /support.
func SafeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 1024 || u.Scheme != "" || u.Host != "" || strings.Contains(next, "//") || strings.ContainsFunc(next, notPlain) {
		return home
	}
	// The path is looked at decoded, as a proxy or a browser may take it.
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

// notPlain is what no browser sends in a path or a query unless it is encoded.
func notPlain(r rune) bool { return r <= ' ' || r > '~' || ambiguous(r) && r != '%' }

// ambiguous is read in different ways by different programs, and in no name of ours.
func ambiguous(r rune) bool { return unicode.IsControl(r) || r == '\\' || r == '%' }
