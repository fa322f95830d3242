package web

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/internal/origin"
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
