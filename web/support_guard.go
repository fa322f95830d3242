package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	agentKey = "agent"   // of the request's context: who is signed in
	bounced  = "bounced" // of the query: this page has led on to itself once
)

// inSupport is true for every address of support's.
func inSupport(path string) bool {
	path = strings.TrimPrefix(path, "/api")
	return path == "/support" || strings.HasPrefix(path, "/support/")
}

// guard lets nobody to the desk who is not signed in.
func (s *site) guard(c *gin.Context) {
	if !inSupport(c.Request.URL.Path) {
		return
	}
	c.Header("Cache-Control", "no-store")
	if s.Support == nil {
		s.refuse(c, "not_found")
		return
	}
	if openToAll(c) {
		return
	}
	who, err := s.signedIn(c)
	switch {
	case errors.Is(err, signin.ErrNotSignedIn):
		s.turnAway(c)
	case err != nil:
		sayWhen(c, err)
		s.fail(c, err)
	default:
		c.Set(agentKey, who)
		s.straighten(c)
	}
}

// openToAll is true for the routes that lead to a sign-in and out of it. It goes by the route that was found and not by the path:
// where the method is another, somebody's room may have that name.
func openToAll(c *gin.Context) bool {
	switch c.FullPath() {
	case signInPath, signOutPath, oidcStartPath, oidcCallbackPath:
		return true
	}
	return false
}

// tokenOf is the token that a program brings to support's API. It decides alone: no cookie counts beside it.
// Where no integration has a token, what a proxy may have put there counts for nothing.
func (s *site) tokenOf(c *gin.Context) (token string, ok bool) {
	path := c.Request.URL.Path
	api := strings.HasPrefix(path, "/api/") && inSupport(path)
	if !api || s.Support == nil || !s.Support.Desk.TakesTokens() {
		return "", false
	}
	return inAuthorization(c)
}

// signedIn finds who asks: by the token that comes with the request, else by the cookie alone.
func (s *site) signedIn(c *gin.Context) (signin.Agent, error) {
	if token, ok := s.tokenOf(c); ok {
		return s.integration(c, token)
	}
	token := s.supportToken(c)
	if token == "" {
		return signin.Agent{}, signin.ErrNotSignedIn
	}
	ctx, cancel := s.asking(c)
	defer cancel()
	return s.Support.Desk.Agent(ctx, token)
}

func (s *site) integration(c *gin.Context, token string) (signin.Agent, error) {
	ctx, cancel := s.asking(c)
	defer cancel()
	who, err := s.Support.Desk.Token(ctx, token, s.addressIn(c))
	if errors.Is(err, signin.ErrNotSignedIn) {
		c.Header("WWW-Authenticate", bearer)
	}
	return who, err
}

// agentOf is who asks, of a request that guard has let through.
func agentOf(c *gin.Context) signin.Agent {
	who, _ := c.MustGet(agentKey).(signin.Agent)
	return who
}

// mayAct holds back who may only watch.
func (s *site) mayAct(c *gin.Context) {
	if agentOf(c).Role != signin.Act {
		s.refuse(c, "not_allowed")
	}
}

// turnAway answers one who is not signed in: a program by 401, a person by the way to the form.
func (s *site) turnAway(c *gin.Context) {
	c.Abort()
	if !wantsPage(c) {
		s.refuse(c, "not_signed_in")
		return
	}
	if s.strayed(c) {
		s.bounce(c, addressOf(c.Request.URL, true))
		return
	}
	next := desk
	if c.Request.Method == http.MethodGet {
		next = addressOf(c.Request.URL, false)
	}
	c.Redirect(http.StatusSeeOther, signInPath+"?next="+url.QueryEscape(next))
}

// strayed is true for a page that a link on another site leads to: a Strict cookie stays behind there, and comes along when the page
// leads on to itself.
func (s *site) strayed(c *gin.Context) bool {
	_, again := c.GetQuery(bounced)
	return c.Request.Method == http.MethodGet && c.GetHeader("Sec-Fetch-Site") == "cross-site" && s.supportToken(c) == "" && !again
}

// straighten takes the mark of a bounce out of the address.
func (s *site) straighten(c *gin.Context) {
	if _, again := c.GetQuery(bounced); again && c.Request.Method == http.MethodGet && wantsPage(c) {
		c.Abort()
		c.Redirect(http.StatusSeeOther, addressOf(c.Request.URL, false))
	}
}

func (s *site) bounce(c *gin.Context, next string) {
	v := s.deskView(c)
	s.show(c, http.StatusOK, v.Lang, templates.BouncePage(templates.BounceView{DeskView: v, Next: next}))
}

// addressOf is the path and query that were asked for, with the mark of a bounce or without it.
func addressOf(u *url.URL, mark bool) string {
	query := u.Query()
	query.Del(bounced)
	if mark {
		query.Set(bounced, "1")
	}
	to := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
	return to.String()
}

// deskView is what every page of support knows of its reader.
func (s *site) deskView(c *gin.Context) templates.DeskView {
	s.choose(c, c.Query("lang"))
	query := c.Request.URL.Query()
	query.Del("lang")
	v := templates.DeskView{Lang: deskLanguages.page(c.Request), AssetPrefix: s.AssetPrefix, Query: query.Encode()}
	if who, ok := c.Get(agentKey); ok {
		agent, _ := who.(signin.Agent)
		v.Agent, v.MayAct = agent.Name, agent.Role == signin.Act
	}
	return v
}
