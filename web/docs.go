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

// docsRoutes serves the descriptions of the API: the documents, and a page made from them.
func (s *site) docsRoutes(g *gin.Engine) {
	g.GET(docsPath, s.docsPage)
	for path, handler := range describe.Handlers() {
		g.GET(path, s.beside(handler))
	}
}

// docsPage is GET /docs.
func (s *site) docsPage(c *gin.Context) {
	s.ChooseLanguage(c, c.Query("lang"))
	v := describe.Page()
	v.Lang, v.AssetPrefix = request.Desk.Page(c.Request), s.AssetPrefix
	for _, code := range problem.Codes() {
		p := problem.For(code)
		v.Problems = append(v.Problems, templates.DocsProblem{Code: code, Status: p.Status,
			Problem: p.Words(v.Lang)})
	}
	s.Show(c, http.StatusOK, v.Lang, templates.DocsPage(v))
}
