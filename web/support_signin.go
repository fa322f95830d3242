package web

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
	"github.com/waitroom/waitroom/web/signin"
)

const (
	desk          = "/support"
	signInPath    = "/support/sign-in"
	signOutPath   = "/support/sign-out"
	supportCookie = "waitroom_support"
)

// signInPage is GET /support/sign-in. Who is signed in already goes on.
func (s *site) signInPage(c *gin.Context) {
	_, err := s.signedIn(c)
	switch {
	case err == nil:
		c.Redirect(http.StatusSeeOther, signin.SafeNext(c.Query("next")))
	case errors.Is(err, signin.ErrNotSignedIn):
		s.showSignIn(c, http.StatusOK, templates.SignInView{Next: signin.SafeNext(c.Query("next"))})
	default:
		s.fail(c, err)
	}
}

// signInForm is POST /support/sign-in.
func (s *site) signInForm(c *gin.Context) {
	if !s.readForm(c) {
		return
	}
	next := signin.SafeNext(c.PostForm("next"))
	name := strings.TrimSpace(c.PostForm("username"))
	ctx, cancel := s.asking(c)
	defer cancel()
	token, who, err := s.Support.Desk.SignIn(ctx, name, c.PostForm("password"), s.addressIn(c))
	if err != nil {
		s.notSignedIn(c, err, templates.SignInView{Next: next, Name: name})
		return
	}
	s.rememberAgent(c, token, who)
	c.Redirect(http.StatusSeeOther, next)
}

// signOut is POST /support/sign-out: here, on every replica, and on every socket. It is done also where nobody was signed in.
func (s *site) signOut(c *gin.Context) {
	if token := s.supportToken(c); token != "" {
		if err := s.endSignIn(c, token); err != nil {
			s.fail(c, err)
			return
		}
	}
	s.setSupportCookie(c, "", -1)
	c.Redirect(http.StatusSeeOther, signInPath)
}

// endSignIn closes the sockets also of a sign-in that is gone already: the store may have lost it, or a request before this one has
// not come so far.
func (s *site) endSignIn(c *gin.Context, token string) error {
	ctx, cancel := s.asking(c)
	defer cancel()
	if _, err := s.Support.Desk.SignOut(ctx, token); err != nil && !errors.Is(err, signin.ErrNotSignedIn) {
		return err
	}
	return s.Support.Sockets.SignOut(ctx, signin.KeyOf(token))
}

// signOutOnly is another method at /support/sign-out, where a room of that name would answer else.
func (s *site) signOutOnly(c *gin.Context) {
	c.Header("Allow", http.MethodPost)
	s.notLikeThis(c)
}

// notSignedIn says why a sign-in was refused: on the form to a person, as a problem to a program.
func (s *site) notSignedIn(c *gin.Context, err error, v templates.SignInView) {
	code := codeOf(err)
	v.Minutes = sayWhen(c, err)
	p := problemOf(c, code)
	if !wantsPage(c) || code == "internal" {
		s.fail(c, err)
		return
	}
	if p.retry > 0 && c.Writer.Header().Get("Retry-After") == "" {
		c.Header("Retry-After", strconv.Itoa(p.retry))
	}
	v.Error = code
	s.showSignIn(c, p.status, v)
}

// sayWhen tells one who tried too often from when to try again, and returns in how many minutes that is.
func sayWhen(c *gin.Context, err error) (minutes int) {
	limited, ok := errors.AsType[signin.Limited](err)
	if !ok {
		return 0
	}
	c.Header("Retry-After", strconv.Itoa(max(int(math.Ceil(limited.After.Seconds())), 1)))
	return max(int(math.Ceil(limited.After.Minutes())), 1)
}

func (s *site) showSignIn(c *gin.Context, status int, v templates.SignInView) {
	v.DeskView, v.OIDC = s.deskView(c), !s.Support.Desk.ByPassword()
	v.Query = url.Values{"next": {v.Next}}.Encode() // and not what the provider's page brought
	s.show(c, status, v.Lang, templates.SignInPage(v))
}

// addressIn is the client's address, for the limits of tries.
func (s *site) addressIn(c *gin.Context) string { return network(s.client(c)).String() }

func (s *site) supportToken(c *gin.Context) string {
	cookie, err := c.Request.Cookie(s.hostCookie(c, supportCookie))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (s *site) rememberAgent(c *gin.Context, token string, who signin.Agent) {
	s.setSupportCookie(c, token, int(math.Round(time.Until(who.Until).Seconds())))
}

func (s *site) setSupportCookie(c *gin.Context, token string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: s.hostCookie(c, supportCookie), Value: token, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.secure(c), SameSite: http.SameSiteStrictMode})
}
