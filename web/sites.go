package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// Hosts are the host names that the server answers to. The zero value answers to any.
type Hosts struct {
	public   string // host, with any port but the scheme's default
	scheme   string
	loopback bool
}

// HostOf returns the host of the server's public URL.
func HostOf(public string) (Hosts, error) {
	u, err := url.Parse(public)
	if err != nil {
		return Hosts{}, err
	}
	return Hosts{public: origin.Host(u.Host, u.Scheme), scheme: u.Scheme}, nil
}

// Loopback returns the names by which a machine calls itself.
func Loopback() Hosts { return Hosts{loopback: true} }

// has reports whether the server answers to a host. This stops DNS rebinding: a foreign site that points its
// own name here could otherwise read this site's answers.
func (h Hosts) has(host string) bool {
	switch {
	case h.public != "":
		return origin.Host(host, h.scheme) == h.public
	case h.loopback:
		return isLoopback(host)
	}
	return true
}

func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || (err == nil && addr.Unmap().IsLoopback())
}

// rightHost refuses requests for another host name. Probes call by address, so their routes answer under any
// name.
func (m *middleware) rightHost(c *gin.Context) {
	switch c.Request.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return
	}
	if !m.Hosts.has(c.Request.Host) {
		m.refusedAddress(c, "wrong_host")
		m.Refuse(c, "wrong_host")
	}
}

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
