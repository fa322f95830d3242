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

// spoken is the language of a request: the one chosen on a page, else what Accept-Language says.
func spoken(r *http.Request) string {
	if cookie, err := r.Cookie(langCookie); err == nil && speaks(cookie.Value) {
		return cookie.Value
	}
	if _, i := language.MatchStrings(languages, r.Header.Get("Accept-Language")); i == 1 {
		return "en"
	}
	return "ko"
}

func speaks(lang string) bool { return lang == "ko" || lang == "en" }

// choose keeps the language that a person picked.
func (s *site) choose(c *gin.Context, lang string) {
	http.SetCookie(c.Writer, &http.Cookie{Name: langCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}
