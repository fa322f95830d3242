package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"github.com/waitroom/waitroom/templates"
)

const (
	langCookie = "waitroom_lang"
	langKept   = 365 * 24 * 60 * 60
	english    = "en" // for whoever asks for none that there is
)

// languages are those that something is said in, with what finds the one that suits somebody best. The first is for who asks for nothing.
type languages struct {
	names   []string
	matcher language.Matcher
}

var sellerLanguages, deskLanguages = languagesOf(templates.Languages()), languagesOf(templates.DeskLanguages())

func languagesOf(names []string) languages {
	var tags []language.Tag
	for _, name := range names {
		tags = append(tags, language.MustParse(name))
	}
	return languages{names, language.NewMatcher(tags)}
}

// spoken are the languages that an address is answered in: support and who sends messages are told in fewer than sellers are.
func spoken(c *gin.Context) languages {
	if inSupport(c.Request.URL.Path) || strings.HasSuffix(c.FullPath(), "/sms") {
		return deskLanguages
	}
	return sellerLanguages
}

// accepted is the language that Accept-Language asks for: English where it names none of these, the first where it names none at all.
func (l languages) accepted(r *http.Request) string {
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

// page is the language that a page is read in: what its link just asked for, what was chosen before, else the browser's own.
func (l languages) page(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); l.has(lang) {
		return lang
	}
	if cookie, err := r.Cookie(langCookie); err == nil && l.has(cookie.Value) {
		return cookie.Value
	}
	return l.accepted(r)
}

func (l languages) has(lang string) bool { return slices.Contains(l.names, lang) }

// choose keeps the language that a person picked.
func (s *site) choose(c *gin.Context, lang string) {
	if !sellerLanguages.has(lang) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: langCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}
