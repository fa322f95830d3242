package web

import (
	"cmp"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/support"
)

// httpsKept makes a browser that came over https use nothing else for a year. Where PUBLIC_URL gives the
// server's name, that counts for the names below it, too: a page there could set cookies for this one.
const (
	httpsKept      = "max-age=31536000"
	httpsKeptBelow = httpsKept + "; includeSubDomains"
)

// middleware is what every request passes before its handler.
type middleware struct {
	*base
	desk     *support.Desk // nil: no desk
	unnamed  unnamed
	metrics  *metrics
	untraced map[string]bool // routes

	httpsKept string
}

func newMiddleware(b *base) *middleware {
	m := &middleware{base: b, metrics: newMetrics(b.Registerer), httpsKept: httpsKept}
	if strings.HasPrefix(b.PublicURL, "https://") {
		m.httpsKept = httpsKeptBelow
	}
	if b.Tracer != nil {
		m.untraced = besideRooms(b.Handlers)
	}
	if b.Support != nil {
		desk := *b.Support
		desk.Rooms, desk.Info = b.Rooms, b.info
		m.desk = support.New(desk, b.Replies)
	}
	return m
}

// chain returns the middleware in its order.
func (m *middleware) chain() []gin.HandlerFunc {
	return []gin.HandlerFunc{m.observe, m.recover, m.harden, m.rightHost, m.cors, m.notFull, m.sameSite,
		m.guard, m.wholeQuery}
}

// harden sets the headers common to all answers. The referrer is kept within the site, not withheld: without
// one, browsers send a form's Origin as "null".
func (m *middleware) harden(c *gin.Context) {
	header := c.Writer.Header()
	m.frames(c)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if m.proxies.Secure(c) {
		header.Set("Strict-Transport-Security", m.httpsKept)
	}
}

// notFull refuses what the server has no files for, before anything is asked of the store.
func (m *middleware) notFull(c *gin.Context) {
	if m.Full != nil && m.Full(c.Request) {
		m.Refuse(c, "overloaded")
	}
}

// sameSite refuses changes requested by another site's page. Support routes trust no other site. Requests
// with a token pass: browsers never add a token by themselves, and a page needs permission to send one.
func (m *middleware) sameSite(c *gin.Context) {
	if m.desk != nil {
		if _, ok := m.desk.TokenOf(c); ok {
			return
		}
	}
	sites := m.Origins
	if request.InSupport(c.Request.URL.Path) {
		sites = sites.Alone()
	}
	if sites.Crossed(c.Request) {
		m.Refuse(c, "cross_site")
	}
}

// recover answers 500 for a handler that panicked; the server goes on serving.
func (m *middleware) recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		m.Log.ErrorContext(c.Request.Context(), "handler panicked", "route", c.FullPath(), "panic", v, "stack",
			string(debug.Stack()))
		c.Abort()
		if !c.Writer.Written() {
			m.Refuse(c, "internal")
		}
	}()
	c.Next()
}

// guard admits only signed-in agents to the desk.
func (m *middleware) guard(c *gin.Context) {
	if !request.InSupport(c.Request.URL.Path) {
		return
	}
	c.Header("Cache-Control", "no-store")
	if m.desk == nil {
		m.Refuse(c, "not_found")
		return
	}
	m.desk.Guard(c)
}

// known refuses requests for rooms that do not exist.
func (m *middleware) known(c *gin.Context) {
	id, err := room.ParseID(c.Param("room"))
	if err != nil || !m.Rooms.Has(id) {
		m.refusedAddress(c, "unknown_room")
		m.Refuse(c, "unknown_room")
	}
}

func (m *middleware) notFound(c *gin.Context) {
	m.refusedAddress(c, "not_found")
	m.Refuse(c, "not_found")
}

func (m *middleware) methodNotAllowed(c *gin.Context) {
	m.refusedAddress(c, "method_not_allowed")
	m.Refuse(c, "method_not_allowed")
}

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
