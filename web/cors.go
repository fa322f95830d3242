package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// cors lets the pages of other origins that may act here read the answers. Support is not theirs.
func (s *site) cors(c *gin.Context) {
	path, origin := c.Request.URL.Path, c.GetHeader("Origin")
	if !strings.HasPrefix(path, "/api/") || inSupport(path) || !slices.Contains(s.Origins, origin) {
		return
	}
	header := c.Writer.Header()
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Credentials", "true")
	header.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-ID")
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		header.Set("Access-Control-Allow-Headers", "Content-Type, Accept-Language, Authorization, Idempotency-Key, X-Session-ID, X-Request-ID")
		header.Set("Access-Control-Max-Age", "600")
		c.AbortWithStatus(http.StatusNoContent)
	}
}
