package web

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"github.com/waitroom/waitroom/templates"
)

const (
	langCookie = "waitroom_lang"
	langKept   = 365 * 24 * 60 * 60
)

// languages finds which of those that everything is said in suits somebody best; the first where nothing is asked for.
var languages = language.NewMatcher(tags(templates.Languages()))

func tags(names []string) (list []language.Tag) {
	for _, name := range names {
		list = append(list, language.MustParse(name))
	}
	return list
}

// apiLanguage is the language that a program asks for.
func apiLanguage(r *http.Request) string {
	_, i := language.MatchStrings(languages, r.Header.Get("Accept-Language"))
	return templates.Languages()[i]
}

// pageLanguage is the language that a page is read in: what its link just asked for, what was chosen before,
// else the browser's own.
func pageLanguage(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); speaks(lang) {
		return lang
	}
	if cookie, err := r.Cookie(langCookie); err == nil && speaks(cookie.Value) {
		return cookie.Value
	}
	return apiLanguage(r)
}

func speaks(lang string) bool { return slices.Contains(templates.Languages(), lang) }

// choose keeps the language that a person picked.
func (s *site) choose(c *gin.Context, lang string) {
	if !speaks(lang) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: langCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}
