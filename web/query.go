package web

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// codesOfQuery maps routes and parameters to error codes of their own.
var codesOfQuery = map[string]map[string]string{
	"/api/:room/lock": {"fence": "invalid_fence", "reason": "invalid_reason"},
	"/api/support/:room/history": {"seller": "invalid_seller", "from": "invalid_time", "to": "invalid_time",
		"limit": "invalid_limit", "cursor": "invalid_cursor",
		"format": "invalid_format"},
	"/api/support/:room/report": {"from": "invalid_time", "to": "invalid_time", "format": "invalid_format"},
	"/api/support/audit": {"from": "invalid_time", "to": "invalid_time", "limit": "invalid_limit",
		"cursor": "invalid_cursor", "format": "invalid_format"},
	"/api/support/:room/timeline": {"seller": "invalid_seller", "from": "invalid_time",
		"limit": "invalid_limit"},
}

// wholeQuery refuses an API query that does not parse. net/url drops the parameters it cannot parse, and a
// dropped fence ends any live lease. Pages accept such queries, since mails and adverts add to their links.
// Message routes ignore the query, and a carrier does not retry a refused one.
func (m *middleware) wholeQuery(c *gin.Context) {
	query := c.Request.URL.RawQuery
	if !strings.HasPrefix(c.FullPath(), "/api/") || strings.HasPrefix(c.FullPath(), "/api/:room/sms") ||
		strings.HasPrefix(c.FullPath(), "/api/sms/") {
		return
	}
	if _, err := url.ParseQuery(query); err != nil {
		m.Refuse(c, codeOfQuery(c.FullPath(), query))
	}
}

// codeOfQuery returns the code of the first parameter that does not parse.
func codeOfQuery(route, query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			name, _, _ := strings.Cut(pair, "=")
			return cmp.Or(codesOfQuery[route][name], "invalid_query")
		}
	}
	return "invalid_query"
}
