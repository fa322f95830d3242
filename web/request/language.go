package request

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"github.com/waitroom/waitroom/templates"
)

// LangCookie keeps the language that a person picked.
const LangCookie = "waitroom_lang"

const english = "en" // for readers who ask for none of ours

// Languages are the languages of a part of the site. The first is for readers who ask for none.
type Languages struct {
	names   []string
	matcher language.Matcher
}

// Seller and Desk are the languages of the sellers' pages and of support's.
var Seller, Desk = languagesOf(templates.Languages()), languagesOf(templates.DeskLanguages())

// Names are their BCP 47 tags.
func (l Languages) Names() []string { return l.names }

func languagesOf(names []string) Languages {
	var tags []language.Tag
	for _, name := range names {
		tags = append(tags, language.MustParse(name))
	}
	return Languages{names, language.NewMatcher(tags)}
}

// Spoken are the languages that an address is answered in: fewer for support and for senders of messages.
func Spoken(c *gin.Context) Languages {
	if InSupport(c.Request.URL.Path) || strings.HasSuffix(c.FullPath(), "/sms") {
		return Desk
	}
	return Seller
}

// Accepted is the language that Accept-Language asks for: English where it names none of these, the first
// where it names none at all.
func (l Languages) Accepted(r *http.Request) string {
	wanted, _, err := language.ParseAcceptLanguage(strings.Join(r.Header.Values("Accept-Language"), ","))
	if err != nil || !slices.ContainsFunc(wanted, named) {
		return l.names[0]
	}
	if _, i, sure := l.matcher.Match(wanted...); sure != language.No {
		return l.names[i]
	}
	return english
}

// anything is how a "*" is read.
var anything = language.MustParse("mul")

func named(tag language.Tag) bool { return tag != anything }

// Page is the language that a page is read in: the one in its link, the one chosen before, else the browser's
// own.
func (l Languages) Page(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); l.Has(lang) {
		return lang
	}
	if cookie, err := r.Cookie(LangCookie); err == nil && l.Has(cookie.Value) {
		return cookie.Value
	}
	return l.Accepted(r)
}

// Has reports whether a language is one of them.
func (l Languages) Has(lang string) bool { return slices.Contains(l.names, lang) }
