package support

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	agentKey = "agent"   // of the request's context: the agent who is signed in
	bounced  = "bounced" // of the query: this page has led on to itself once
)

// Guard turns away requests to support's addresses from people who are not signed in. It sees every such
// request, also one for which there is no route.
func (d *Desk) Guard(c *gin.Context) {
	if openToAll(c) {
		return
	}
	who, err := d.signedIn(c)
	switch {
	case errors.Is(err, signin.ErrNotSignedIn):
		d.turnAway(c)
	case err != nil:
		setRetryAfter(c, err)
		d.Fail(c, err)
	default:
		c.Set(agentKey, who)
		d.straighten(c)
	}
}

// openToAll is true for the routes that lead to a sign-in and out of it. It goes by the route that was found
// and not by the path: where the method is another, somebody's room may have that name.
func openToAll(c *gin.Context) bool {
	switch c.FullPath() {
	case signInPath, signOutPath, oidcStartPath, oidcCallbackPath:
		return true
	}
	return false
}

// TokenOf is the token that a program sends to support's API. It decides alone: no cookie counts beside it.
// Where no integration has a token, it is a proxy's if anybody's, and counts for nothing.
func (d *Desk) TokenOf(c *gin.Context) (token string, ok bool) {
	path := c.Request.URL.Path
	api := strings.HasPrefix(path, "/api/") && request.InSupport(path)
	if !api || !d.SignIns.TakesTokens() {
		return "", false
	}
	return request.Token(c)
}

// signedIn finds the agent who asks: by the token that comes with the request, else by the cookie alone.
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
	return d.SignIns.Agent(ctx, token)
}

func (d *Desk) integration(c *gin.Context, token string) (signin.Agent, error) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	who, err := d.SignIns.Token(ctx, token, d.addressIn(c))
	if errors.Is(err, signin.ErrNotSignedIn) {
		c.Header("WWW-Authenticate", request.Bearer)
	}
	return who, err
}

// agentOf is the agent who asks, of a request that Guard has let through.
func agentOf(c *gin.Context) signin.Agent {
	who, _ := c.MustGet(agentKey).(signin.Agent)
	return who
}

// mayAct refuses agents who may only watch.
func (d *Desk) mayAct(c *gin.Context) {
	if agentOf(c).Role != signin.Act {
		d.Refuse(c, "not_allowed")
	}
}

// turnAway answers without a sign-in: a program by 401, a person by the way to the form.
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

// strayed is true for a page that a link on another site leads to: a Strict cookie stays behind there, and
// comes along when the page leads on to itself.
func (d *Desk) strayed(c *gin.Context) bool {
	_, again := c.GetQuery(bounced)
	return c.Request.Method == http.MethodGet && c.GetHeader("Sec-Fetch-Site") == "cross-site" &&
		d.supportToken(c) == "" && !again
}

// straighten takes the mark of a bounce out of the address.
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
func (d *Desk) deskView(c *gin.Context) templates.DeskView {
	d.ChooseLanguage(c, c.Query("lang"))
	query := c.Request.URL.Query()
	query.Del("lang")
	v := templates.DeskView{Lang: request.Desk.Page(c.Request), AssetPrefix: d.AssetPrefix,
		Query: query.Encode()}
	if who, ok := c.Get(agentKey); ok {
		agent, _ := who.(signin.Agent)
		v.Agent, v.MayAct = agent.Name, agent.Role == signin.Act
	}
	return v
}
