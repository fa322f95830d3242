package support

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/signin"
)

const (
	signInsPath    = "/support/-/sign-ins"
	oidcLogoutPath = "/support/oidc/back-channel"
)

// signInsPage is GET /support/-/sign-ins: the agents that are signed in.
func (d *Desk) signInsPage(c *gin.Context) {
	d.showSignIns(c, nil)
}

func (d *Desk) showSignIns(c *gin.Context, refused error) {
	ended := c.Query("ended")
	v := templates.SignInsView{DeskView: d.deskView(c), Ended: ended == "1", Gone: ended == "0"}
	ctx, cancel := d.Asking(c)
	defer cancel()
	list, err := d.SignIns.SignedIn(ctx)
	status := http.StatusOK
	if err = errors.Join(refused, err); err != nil {
		v.Error, status = d.PageError(c, err)
	}
	own := agentOf(c).Key
	for _, s := range list {
		v.Rows = append(v.Rows, templates.SignInRow{Key: s.Key, Who: s.Name, MayAct: s.Role == signin.Act,
			Own: s.Key == own, Since: s.Since, Until: s.Until})
	}
	d.Show(c, status, v.Lang, templates.SignInsPage(v))
}

// endOther is POST /support/-/sign-ins/{key}/end: it ends a sign-in and closes its sockets on every replica.
func (d *Desk) endOther(c *gin.Context) {
	if !d.ReadForm(c) {
		return
	}
	reason := strings.TrimSpace(c.PostForm("reason"))
	if !validText(reason, maxReason) {
		d.showSignIns(c, problem.Refusal("invalid_reason"))
		return
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	ended, key := "1", c.Param("key")
	err := d.SignIns.End(ctx, key, agentOf(c).Name, d.addressIn(c), reason)
	switch {
	case errors.Is(err, signin.ErrNotSignedIn):
		ended, err = "0", nil
	case err == nil:
		err = d.Sockets.SignOut(ctx, key)
	}
	if err != nil {
		d.Fail(c, err)
		return
	}
	c.Redirect(http.StatusSeeOther, signInsPath+"?ended="+ended)
}

// oidcLogout is POST /support/oidc/back-channel: the provider ends its sign-ins (OpenID Connect Back-Channel
// Logout 1.0).
func (d *Desk) oidcLogout(c *gin.Context) {
	if d.SignIns.ByPassword() {
		d.Refuse(c, "not_found")
		return
	}
	if !d.ReadForm(c) {
		return
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	keys, err := d.SignIns.ProviderSignOut(ctx, c.PostForm("logout_token"), d.addressIn(c))
	for _, key := range keys {
		err = errors.Join(err, d.Sockets.SignOut(ctx, key))
	}
	switch {
	case errors.Is(err, signin.ErrExpired):
		c.JSON(http.StatusBadRequest, gin.H{"error": "invalid_request"}) // the form of section 2.8 there
	case err != nil:
		setRetryAfter(c, err)
		d.Fail(c, err)
	default:
		c.Status(http.StatusOK)
	}
}
