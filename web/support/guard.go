package support

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	agentKey = "agent"   // the context key of the signed-in agent
	bounced  = "bounced" // the query key of a page that has redirected to itself once
)

// Guard refuses support requests without a sign-in. It sees every such request, also those without a route.
func (d *Desk) Guard(c *gin.Context) {
	if openToAll(c) {
		return
	}
	if _, program := d.TokenOf(c); !program && embedded(c.Request) {
		d.Refuse(c, "cross_site")
		return
	}
	agent, err := d.signedIn(c)
	switch {
	case errors.Is(err, signin.ErrNotSignedIn):
		d.turnAway(c)
	case err != nil:
		setRetryAfter(c, err)
		d.Fail(c, err)
	default:
		c.Set(agentKey, agent)
		d.straighten(c)
	}
}

// embedded reports whether another origin's page loads this as a part of itself, such as an image. From a
// page of the same site the browser sends the agent's cookie along, and the audit would say that the agent
// read something. Sockets check their Origin.
func embedded(r *http.Request) bool {
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	if site != "same-site" && site != "cross-site" || mode == "" || mode == "websocket" {
		return false
	}
	return mode != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// openToAll reports whether a route leads to a sign-in or out of it. It compares routes, not paths: with
// another method, a room of that name may answer.
func openToAll(c *gin.Context) bool {
	switch c.FullPath() {
	case signInPath, signOutPath, oidcStartPath, oidcCallbackPath, oidcLogoutPath:
		return true
	}
	return false
}

// TokenOf returns the token of a program's request. With a token, cookies are ignored. If no integration
// has one, the header may be a proxy's and is ignored.
func (d *Desk) TokenOf(c *gin.Context) (token string, ok bool) {
	path := c.Request.URL.Path
	api := strings.HasPrefix(path, "/api/") && request.InSupport(path)
	if !api || !d.SignIns.TakesTokens() {
		return "", false
	}
	return request.Token(c)
}

// signedIn returns the caller's agent: by the request's token, or else by the cookie.
func (d *Desk) signedIn(c *gin.Context) (signin.Agent, error) {
	if token, ok := d.TokenOf(c); ok {
		return d.integration(c, token)
	}
	token := d.supportToken(c)
	if token == "" {
		return signin.Agent{}, signin.ErrNotSignedIn
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	if strings.HasSuffix(c.FullPath(), "/ws") { // a page connects by itself, and asks why it could not
		return d.SignIns.Agent(ctx, token)
	}
	return d.SignIns.Use(ctx, token)
}

func (d *Desk) integration(c *gin.Context, token string) (signin.Agent, error) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	agent, err := d.SignIns.Token(ctx, token, d.addressIn(c))
	if errors.Is(err, signin.ErrNotSignedIn) {
		c.Header("WWW-Authenticate", request.Bearer)
	}
	return agent, err
}

// agentOf returns the agent of a request that Guard admitted.
func agentOf(c *gin.Context) signin.Agent {
	agent, _ := c.MustGet(agentKey).(signin.Agent)
	return agent
}

// by returns the action of a request's agent, for the audit.
func (d *Desk) by(c *gin.Context, action, reason string) room.Action {
	return room.Action{Who: agentOf(c).Name, Address: d.addressIn(c), Action: action, Reason: reason}
}

// mayAct refuses agents that may only watch.
func (d *Desk) mayAct(c *gin.Context) {
	if agentOf(c).Role != signin.Act {
		d.Refuse(c, "not_allowed")
	}
}

// turnAway answers a request without a sign-in: a program gets 401, a person the form.
func (d *Desk) turnAway(c *gin.Context) {
	c.Abort()
	if !request.WantsPage(c) {
		d.Refuse(c, "not_signed_in")
		return
	}
	if d.strayed(c) {
		d.bounce(c, addressOf(c.Request.URL, true))
		return
	}
	next := desk
	if c.Request.Method == http.MethodGet {
		next = addressOf(c.Request.URL, false)
	}
	c.Redirect(http.StatusSeeOther, signInPath+"?next="+url.QueryEscape(next))
}

// strayed reports whether a link on another site led to this page. A Strict cookie is missing then, and is
// sent once the page redirects to itself.
func (d *Desk) strayed(c *gin.Context) bool {
	_, again := c.GetQuery(bounced)
	return c.Request.Method == http.MethodGet && c.GetHeader("Sec-Fetch-Site") == "cross-site" &&
		d.supportToken(c) == "" && !again
}

// straighten removes the redirect's mark from the address.
func (d *Desk) straighten(c *gin.Context) {
	if _, again := c.GetQuery(bounced); again && c.Request.Method == http.MethodGet && request.WantsPage(c) {
		c.Abort()
		c.Redirect(http.StatusSeeOther, addressOf(c.Request.URL, false))
	}
}

func (d *Desk) bounce(c *gin.Context, next string) {
	v := d.deskView(c)
	d.Show(c, http.StatusOK, v.Lang, templates.BouncePage(templates.BounceView{DeskView: v, Next: next}))
}

// addressOf returns the requested path and query, with or without the redirect's mark.
func addressOf(u *url.URL, mark bool) string {
	query := u.Query()
	query.Del(bounced)
	if mark {
		query.Set(bounced, "1")
	}
	to := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
	return to.String()
}

// deskView returns the part of a view that all support pages share.
func (d *Desk) deskView(c *gin.Context) templates.DeskView {
	d.ChooseLanguage(c, c.Query("lang"))
	query := c.Request.URL.Query()
	query.Del("lang")
	v := templates.DeskView{Lang: request.Desk.Page(c.Request), AssetPrefix: d.AssetPrefix,
		Query: query.Encode()}
	if value, ok := c.Get(agentKey); ok {
		agent, _ := value.(signin.Agent)
		v.Agent, v.MayAct = agent.Name, agent.Role == signin.Act
	}
	return v
}
