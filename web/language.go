package web

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"
)

const (
	langCookie = "waitroom_lang"
	langKept   = 365 * 24 * 60 * 60
)

// languages are those that everything is said in; Korean where nothing is asked for.
var languages = language.NewMatcher([]language.Tag{language.Korean, language.English})

// apiLanguage is the language that a program asks for.
func apiLanguage(r *http.Request) string {
	if _, i := language.MatchStrings(languages, r.Header.Get("Accept-Language")); i == 1 {
		return "en"
	}
	return "ko"
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

func speaks(lang string) bool { return lang == "ko" || lang == "en" }

// choose keeps the language that a person picked.
func (s *site) choose(c *gin.Context, lang string) {
	if !speaks(lang) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: langCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}
