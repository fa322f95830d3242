package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const docsPath = "/docs"

// docs is GET /docs: a page made from the descriptions of the API.
func (h *pages) docs(c *gin.Context) {
	h.ChooseLanguage(c, c.Query("lang"))
	v := describe.Page()
	v.Lang, v.AssetPrefix = request.Desk.Page(c.Request), h.AssetPrefix
	for _, code := range problem.Codes() {
		p := problem.For(code)
		v.Problems = append(v.Problems, templates.DocsProblem{Code: code, Status: p.Status,
			Problem: p.Words(v.Lang)})
	}
	h.Show(c, http.StatusOK, v.Lang, templates.DocsPage(v))
}
