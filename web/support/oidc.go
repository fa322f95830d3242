package support

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

// oidcStart is GET /support/oidc/start: it redirects to the provider.
func (d *Desk) oidcStart(c *gin.Context) {
	if d.SignIns.ByPassword() {
		d.Refuse(c, "not_found")
		return
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	next := signin.SafeNext(c.Query("next"))
	to, cookie, err := d.SignIns.Begin(ctx, next, d.addressIn(c))
	if err != nil {
		d.notSignedIn(c, err, templates.SignInView{Next: next})
		return
	}
	d.setOIDCCookie(c, cookie, oidcKept)
	c.Redirect(http.StatusSeeOther, to)
}

// oidcCallback is GET /support/oidc/callback: the provider redirects here. Browsers send the cookie set now
// only after a page of this site has redirected.
func (d *Desk) oidcCallback(c *gin.Context) {
	if d.SignIns.ByPassword() {
		d.Refuse(c, "not_found")
		return
	}
	var brought string
	if cookie, err := c.Request.Cookie(d.Proxies.HostCookie(c, oidcCookie)); err == nil {
		brought = cookie.Value
	}
	d.setOIDCCookie(c, "", -1)
	ctx, cancel := d.Asking(c)
	defer cancel()
	token, agent, next, err := d.SignIns.Finish(ctx, brought, c.Query("state"), c.Query("code"), d.addressIn(c))
	if err != nil {
		d.notSignedIn(c, err, templates.SignInView{Next: desk})
		return
	}
	d.rememberAgent(c, token, agent)
	d.bounce(c, next)
}

// setOIDCCookie sets a Lax cookie, as the provider's page redirects back.
func (d *Desk) setOIDCCookie(c *gin.Context, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: d.Proxies.HostCookie(c, oidcCookie), Value: value, Path: "/",
		MaxAge:   maxAge,
		HttpOnly: true, Secure: d.Proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}
