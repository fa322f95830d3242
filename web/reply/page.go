package reply

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// Show renders a whole page before sending it, so that a failure is still a 500.
func (r *Replies) Show(c *gin.Context, status int, lang string, page templ.Component) {
	r.render(c, lang, page, func(body []byte) { c.Data(status, htmlKind, body) })
}

// ShowZipped is Show for a page without secrets, see sendZipped.
func (r *Replies) ShowZipped(c *gin.Context, status int, lang string, page templ.Component) {
	r.render(c, lang, page, func(body []byte) { r.sendZipped(c, status, htmlKind, body) })
}

const htmlKind = "text/html; charset=utf-8"

func (r *Replies) render(c *gin.Context, lang string, page templ.Component, send func(body []byte)) {
	var body bytes.Buffer
	if err := page.Render(c.Request.Context(), &body); err != nil {
		r.Log.ErrorContext(c.Request.Context(), "page not rendered", "route", c.FullPath(), "error", err)
		writeProblem(c, "internal", problem.For("internal"), Times{})
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Language", lang)
	send(body.Bytes())
}

func (r *Replies) errorPage(c *gin.Context, code string, p problem.Problem) {
	in := request.Spoken(c)
	lang := in.Page(c.Request)
	if sent := c.Request.PostForm.Get("lang"); in.Has(sent) { // see ReadForm
		lang = sent
	}
	r.ChooseLanguage(c, c.Query("lang"))
	v := templates.ErrorView{Lang: lang, Languages: in.Names(), AssetPrefix: r.AssetPrefix, Code: code,
		DropSeconds: int(room.Seconds(r.DropAfter))}
	if request.InSupport(c.Request.URL.Path) { // a seller's page must not lead back to support's
		v.Detail = p.Words(lang).Detail
	} else {
		r.ErrorRoom(c, &v)
	}
	again(c, &v)
	r.ShowZipped(c, p.Status, lang, templates.ErrorPage(v))
}

// againAfter is the shortest reload interval in seconds of a page that failed: as often as a waiting one.
const againAfter = 5

// again makes the browser retry a page that failed, with a script or without. It requests the same address.
// It does not send a form again: AgainAt is the address to request then, if any.
func again(c *gin.Context, v *templates.ErrorView) {
	if !v.Passing() || c.Request.Method != http.MethodGet && v.AgainAt == "" {
		v.AgainAt = ""
		return
	}
	wanted, _ := strconv.Atoi(c.Writer.Header().Get("Retry-After"))
	v.Again = max(wanted, againAfter)
}
