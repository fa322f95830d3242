package web

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
)

// nobodyFrames is how the pages' policy says that no page may have them in a frame.
const nobodyFrames = "frame-ancestors 'none'"

// frames says who may have an answer in a frame: nobody, but for a seller's page, which the pages of Ancestors may. The older header can
// not name origins, so there only the policy speaks.
func (s *site) frames(c *gin.Context) {
	policy, header := templates.ContentSecurityPolicy, c.Writer.Header()
	if len(s.Ancestors) > 0 && isSellersPage(c.Request.URL.Path) {
		policy = strings.Replace(policy, nobodyFrames, "frame-ancestors "+strings.Join(s.Ancestors, " "), 1)
	} else {
		header.Set("X-Frame-Options", "DENY")
	}
	header.Set("Content-Security-Policy", policy)
}

// isSellersPage is true of a room's page alone, not of what is below it.
func isSellersPage(path string) bool {
	room, below := strings.CutPrefix(path, "/rooms/")
	return path == "/" || (below && !strings.Contains(room, "/"))
}
