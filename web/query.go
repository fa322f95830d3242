package web

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// codesOfQuery are the codes of parameters that have one of their own, by route.
var codesOfQuery = map[string]map[string]string{
	"/api/:room/lock": {"fence": "invalid_fence", "reason": "invalid_reason"},
	"/api/support/:room/history": {"seller": "invalid_seller", "from": "invalid_time", "to": "invalid_time", "limit": "invalid_limit", "cursor": "invalid_cursor",
		"format": "invalid_format"},
	"/api/support/audit":          {"from": "invalid_time", "to": "invalid_time", "limit": "invalid_limit", "cursor": "invalid_cursor", "format": "invalid_format"},
	"/api/support/:room/timeline": {"seller": "invalid_seller", "from": "invalid_time", "limit": "invalid_limit"},
}

// wholeQuery refuses a query of the API that can not be read: net/url leaves out what it can not parse, and a fence that is left out ends whichever lease is live.
// Pages take what they can, since mails and adverts write into their links; of a message no query counts, and a carrier does not send a refused one again.
func (s *site) wholeQuery(c *gin.Context) {
	query := c.Request.URL.RawQuery
	if !strings.HasPrefix(c.FullPath(), "/api/") || strings.HasPrefix(c.FullPath(), "/api/:room/sms") {
		return
	}
	if _, err := url.ParseQuery(query); err != nil {
		s.Refuse(c, codeOfQuery(c.FullPath(), query))
	}
}

// codeOfQuery is the code of the first parameter that can not be read.
func codeOfQuery(route, query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			name, _, _ := strings.Cut(pair, "=")
			return cmp.Or(codesOfQuery[route][name], "invalid_query")
		}
	}
	return "invalid_query"
}
