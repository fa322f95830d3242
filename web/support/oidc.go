package support

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	oidcStartPath    = "/support/oidc/start"
	oidcCallbackPath = "/support/oidc/callback"
	oidcCookie       = "waitroom_oidc_" // and the state
	oidcKept         = 10 * 60
	oidcAtOnce       = 5 // sign-ins of one browser
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
	there, err := d.SignIns.Begin(ctx, next, d.addressIn(c))
	if err != nil {
		d.notSignedIn(c, err, templates.SignInView{Next: next})
		return
	}
	d.forgetOldOIDC(c)
	d.setOIDCCookie(c, there.State, there.Cookie, oidcKept)
	c.Redirect(http.StatusSeeOther, there.URL)
}

// oidcCallback is GET /support/oidc/callback: the provider redirects here. Browsers send the cookie set now
// only after a page of this site has redirected.
func (d *Desk) oidcCallback(c *gin.Context) {
	if d.SignIns.ByPassword() {
		d.Refuse(c, "not_found")
		return
	}
	back := signin.Back{State: c.Query("state"), Code: c.Query("code"), Error: c.Query("error"),
		ErrorText: c.Query("error_description")}
	if cookie, err := c.Request.Cookie(d.Proxies.HostCookie(c, oidcCookie+back.State)); err == nil {
		back.Cookie = cookie.Value
		d.setOIDCCookie(c, back.State, "", -1)
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	token, agent, next, err := d.SignIns.Finish(ctx, back, d.addressIn(c))
	if err != nil {
		d.notSignedIn(c, err, templates.SignInView{Next: desk})
		return
	}
	d.rememberAgent(c, token, agent)
	d.bounce(c, next)
}

// forgetOldOIDC makes room for one more cookie among those of a browser. Browsers send the oldest first.
func (d *Desk) forgetOldOIDC(c *gin.Context) {
	var states []string
	for _, cookie := range c.Request.Cookies() {
		if state, ok := strings.CutPrefix(cookie.Name, d.Proxies.HostCookie(c, oidcCookie)); ok {
			states = append(states, state)
		}
	}
	for _, state := range states[:max(len(states)-oidcAtOnce+1, 0)] {
		d.setOIDCCookie(c, state, "", -1)
	}
}

// setOIDCCookie sets a Lax cookie, as the provider's page redirects back. The state is in its name, so that
// tabs that sign in at once do not end each other's.
func (d *Desk) setOIDCCookie(c *gin.Context, state, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: d.Proxies.HostCookie(c, oidcCookie+state), Value: value,
		Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: d.Proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}
