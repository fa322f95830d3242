package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
)

// noFrames is the policy that forbids every page to frame an answer.
const noFrames = "frame-ancestors 'none'"

// frames sets which pages may frame an answer. Only a seller's page and its forms' answers may be framed, by
// the pages of Ancestors.
// X-Frame-Options cannot name origins, so for those only the policy applies.
func (m *middleware) frames(c *gin.Context) {
	policy, header := templates.ContentSecurityPolicy, c.Writer.Header()
	if len(m.Ancestors) > 0 && isSellersPage(c.Request) {
		policy = strings.Replace(policy, noFrames, "frame-ancestors "+strings.Join(m.Ancestors, " "), 1)
	} else {
		header.Set("X-Frame-Options", "DENY")
	}
	header.Set("Content-Security-Policy", policy)
}

// isSellersPage reports whether a request is for a room's page itself, not one below it, or comes from a form
// on it, as without JavaScript.
func isSellersPage(r *http.Request) bool {
	path, under := strings.CutPrefix(r.URL.Path, "/rooms/")
	_, form, below := strings.Cut(path, "/")
	return r.URL.Path == "/" || under && (!below || r.Method == http.MethodPost && !strings.Contains(form, "/"))
}
