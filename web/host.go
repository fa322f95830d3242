package web

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/internal/origin"
)

// Hosts says by which names the server is called. The zero value answers to any.
type Hosts struct {
	public   string // host, with a port that is not the scheme's own
	scheme   string
	loopback bool
}

// HostOf is the one name in a URL that the server is called by from outside.
func HostOf(public string) (Hosts, error) {
	u, err := url.Parse(public)
	if err != nil {
		return Hosts{}, err
	}
	return Hosts{public: origin.Host(u.Host, u.Scheme), scheme: u.Scheme}, nil
}

// Loopback are the names by which a machine calls itself.
func Loopback() Hosts { return Hosts{loopback: true} }

// has reports whether the server is called so. A page of another site can have its own name lead here, and would then read what
// only this site's pages may.
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

// rightHost refuses what was meant for another name. Probes call by address, so what they ask is answered under any.
func (s *site) rightHost(c *gin.Context) {
	switch c.Request.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return
	}
	if !s.Hosts.has(c.Request.Host) {
		s.Refuse(c, "wrong_host")
	}
}
