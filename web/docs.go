package web

import (
	"maps"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
)

const docsPath = "/docs"

// docsRoutes are the descriptions of the API: the documents, and a page made from them.
func (s *site) docsRoutes(g *gin.Engine) {
	g.GET(docsPath, s.docsPage)
	for path, handler := range describe.Handlers() {
		g.GET(path, s.beside(handler))
	}
}

// docsPage is GET /docs.
func (s *site) docsPage(c *gin.Context) {
	s.choose(c, c.Query("lang"))
	v := describe.Page()
	v.Lang, v.AssetPrefix = deskLanguages.page(c.Request), s.AssetPrefix
	for _, code := range slices.Sorted(maps.Keys(problems)) {
		v.Problems = append(v.Problems, templates.DocsProblem{Code: code, Status: problems[code].status, Problem: words(v.Lang).API[code]})
	}
	s.show(c, http.StatusOK, v.Lang, templates.DocsPage(v))
}
