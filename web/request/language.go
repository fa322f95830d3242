package request

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"github.com/waitroom/waitroom/templates"
)

// LangCookie stores a person's choice of language.
const LangCookie = "waitroom_lang"

const english = "en" // for readers whose languages are all missing here

// Languages lists the languages of a part of the site. The first is for readers without a preference.
type Languages struct {
	names   []string
	matcher language.Matcher
}

// Seller and Desk are the languages of the sellers' pages and of support's.
var Seller, Desk = languagesOf(templates.Languages()), languagesOf(templates.DeskLanguages())

// Names returns their BCP 47 tags.
func (l Languages) Names() []string { return l.names }

func languagesOf(names []string) Languages {
	var tags []language.Tag
	for _, name := range names {
		tags = append(tags, language.MustParse(name))
	}
	return Languages{names, language.NewMatcher(tags)}
}

// Spoken returns the languages of a request's answers: fewer for support and at /api/{room}/sms.
func Spoken(c *gin.Context) Languages {
	if InSupport(c.Request.URL.Path) || strings.HasSuffix(c.FullPath(), "/sms") {
		return Desk
	}
	return Seller
}

// Accepted returns the best match for Accept-Language: English if none matches, the first without the header.
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

// anything stands for "*".
var anything = language.MustParse("mul")

func named(tag language.Tag) bool { return tag != anything }

// Page returns a page's language: the link's, the one chosen before, or the browser's own.
func (l Languages) Page(r *http.Request) string {
	if tag, err := language.Parse(r.URL.Query().Get("lang")); err == nil {
		if lang := l.Closest(tag); l.Has(lang) {
			return lang
		}
	}
	if cookie, err := r.Cookie(LangCookie); err == nil && l.Has(cookie.Value) {
		return cookie.Value
	}
	return l.Accepted(r)
}

// Closest returns the language of the list that a tag names, else the tag itself.
func (l Languages) Closest(tag language.Tag) string {
	if _, i, sure := l.matcher.Match(tag); sure >= language.High {
		return l.names[i]
	}
	return tag.String()
}

// Has reports whether a language is in the list.
func (l Languages) Has(lang string) bool { return slices.Contains(l.names, lang) }
