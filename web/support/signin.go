package support

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	desk          = "/support"
	signInPath    = "/support/sign-in"
	signOutPath   = "/support/sign-out"
	supportCookie = "waitroom_support"
)

// signInPage is GET /support/sign-in. It redirects people that are signed in already.
func (d *Desk) signInPage(c *gin.Context) {
	_, err := d.signedIn(c)
	switch {
	case err == nil:
		c.Redirect(http.StatusSeeOther, signin.SafeNext(c.Query("next")))
	case errors.Is(err, signin.ErrNotSignedIn):
		d.showSignIn(c, http.StatusOK, templates.SignInView{Next: signin.SafeNext(c.Query("next"))})
	default:
		d.Fail(c, err)
	}
}

// signInForm is POST /support/sign-in.
func (d *Desk) signInForm(c *gin.Context) {
	if !d.ReadForm(c) {
		return
	}
	next := signin.SafeNext(c.PostForm("next"))
	name := strings.TrimSpace(c.PostForm("username"))
	ctx, cancel := d.Asking(c)
	defer cancel()
	token, agent, err := d.SignIns.SignIn(ctx, name, c.PostForm("password"), d.addressIn(c))
	if err != nil {
		d.notSignedIn(c, err, templates.SignInView{Next: next, Name: name})
		return
	}
	d.rememberAgent(c, token, agent)
	c.Redirect(http.StatusSeeOther, next)
}

// signOut is POST /support/sign-out: here, on every replica, and on every socket. It succeeds without a
// sign-in, too.
func (d *Desk) signOut(c *gin.Context) {
	if token := d.supportToken(c); token != "" {
		if err := d.endSignIn(c, token); err != nil {
			d.Fail(c, err)
			return
		}
	}
	d.setSupportCookie(c, "", -1)
	c.Redirect(http.StatusSeeOther, signInPath)
}

// endSignIn closes a sign-in's sockets even if the sign-in is gone. The store may have lost it, or a
// concurrent request may not have finished.
func (d *Desk) endSignIn(c *gin.Context, token string) error {
	ctx, cancel := d.Asking(c)
	defer cancel()
	_, err := d.SignIns.SignOut(ctx, token, d.addressIn(c))
	if err != nil && !errors.Is(err, signin.ErrNotSignedIn) {
		return err
	}
	return d.Sockets.SignOut(ctx, signin.KeyOf(token))
}

// signOutOnly refuses other methods at /support/sign-out, where otherwise a room of that name would answer.
func (d *Desk) signOutOnly(c *gin.Context) {
	c.Header("Allow", http.MethodPost)
	d.Refuse(c, "method_not_allowed")
}

// notSignedIn answers a refused sign-in: on the form to a person, as a problem to a program.
func (d *Desk) notSignedIn(c *gin.Context, err error, v templates.SignInView) {
	code := problem.CodeOf(err)
	v.Minutes = setRetryAfter(c, err)
	p := problem.For(code)
	if !request.WantsPage(c) || code == "internal" {
		d.Fail(c, err)
		return
	}
	if p.Retry > 0 && c.Writer.Header().Get("Retry-After") == "" {
		c.Header("Retry-After", strconv.Itoa(p.Retry))
	}
	v.Error = code
	d.showSignIn(c, p.Status, v)
}

// setRetryAfter sets the retry delay after too many tries, and returns it in minutes.
func setRetryAfter(c *gin.Context, err error) (minutes int) {
	limited, ok := errors.AsType[signin.Limited](err)
	if !ok {
		return 0
	}
	c.Header("Retry-After", strconv.Itoa(max(int(math.Ceil(limited.After.Seconds())), 1)))
	return max(int(math.Ceil(limited.After.Minutes())), 1)
}

func (d *Desk) showSignIn(c *gin.Context, status int, v templates.SignInView) {
	v.DeskView, v.OIDC = d.deskView(c), !d.SignIns.ByPassword()
	v.Query = url.Values{"next": {v.Next}}.Encode() // instead of the provider's query
	d.Show(c, status, v.Lang, templates.SignInPage(v))
}

// addressIn returns the client's address, for the limits of tries.
func (d *Desk) addressIn(c *gin.Context) string {
	addr := request.Network(d.Proxies.Client(c))
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

func (d *Desk) supportToken(c *gin.Context) string {
	cookie, err := c.Request.Cookie(d.Proxies.HostCookie(c, supportCookie))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (d *Desk) rememberAgent(c *gin.Context, token string, agent signin.Agent) {
	d.setSupportCookie(c, token, int(math.Round(time.Until(agent.Until).Seconds())))
}

func (d *Desk) setSupportCookie(c *gin.Context, token string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: d.Proxies.HostCookie(c, supportCookie), Value: token,
		Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: d.Proxies.Secure(c), SameSite: http.SameSiteStrictMode})
}
