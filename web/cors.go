package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/request"
)

// module is the script that pages of other origins import, see static/embed.js.
const module = "/static/embed.js"

// allowedHeaders are the headers that a page of another origin may send, tracing headers included.
const allowedHeaders = "Content-Type, Accept-Language, Authorization, Idempotency-Key, X-Session-ID, " +
	"X-Request-ID, " +
	"traceparent, tracestate, baggage, sentry-trace"

// cors lets pages of allowed origins read the answers and import the embed module. Support routes are
// excluded.
func (m *middleware) cors(c *gin.Context) {
	path, origin := c.Request.URL.Path, c.GetHeader("Origin")
	if path != module && (!strings.HasPrefix(path, "/api/") || request.InSupport(path)) {
		return
	}
	header := c.Writer.Header()
	if m.Origins.Any() { // a cache must not answer one origin with another's response
		header.Add("Vary", "Origin")
	}
	if !m.Origins.Trusted(c.Request) {
		return
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Credentials", "true")
	header.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-ID")
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		header.Set("Access-Control-Allow-Headers", allowedHeaders)
		header.Set("Access-Control-Max-Age", "600")
		c.AbortWithStatus(http.StatusNoContent)
	}
}
