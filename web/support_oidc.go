package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	oidcStartPath    = "/support/oidc/start"
	oidcCallbackPath = "/support/oidc/callback"
	oidcCookie       = "waitroom_oidc"
	oidcKept         = 10 * 60
)

// oidcStart is GET /support/oidc/start: to the provider.
func (s *site) oidcStart(c *gin.Context) {
	if s.Support.Desk.ByPassword() {
		s.refuse(c, "not_found")
		return
	}
	ctx, cancel := s.asking(c)
	defer cancel()
	next := signin.SafeNext(c.Query("next"))
	to, cookie, err := s.Support.Desk.Begin(ctx, next, s.addressIn(c))
	if err != nil {
		s.notSignedIn(c, err, templates.SignInView{Next: next})
		return
	}
	s.setOIDCCookie(c, cookie, oidcKept)
	c.Redirect(http.StatusSeeOther, to)
}

// oidcCallback is GET /support/oidc/callback: back from there. The provider's page led here, so the cookie that is set now is sent
// only once a page of ours has led on.
func (s *site) oidcCallback(c *gin.Context) {
	if s.Support.Desk.ByPassword() {
		s.refuse(c, "not_found")
		return
	}
	var brought string
	if cookie, err := c.Request.Cookie(s.hostCookie(c, oidcCookie)); err == nil {
		brought = cookie.Value
	}
	s.setOIDCCookie(c, "", -1)
	ctx, cancel := s.asking(c)
	defer cancel()
	token, who, next, err := s.Support.Desk.Finish(ctx, brought, c.Query("state"), c.Query("code"), s.addressIn(c))
	if err != nil {
		s.notSignedIn(c, err, templates.SignInView{Next: desk})
		return
	}
	s.rememberAgent(c, token, who)
	s.bounce(c, next)
}

// setOIDCCookie is Lax: the provider's page leads back.
func (s *site) setOIDCCookie(c *gin.Context, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: s.hostCookie(c, oidcCookie), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}
