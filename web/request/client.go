package request

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// ForwardedFor is the header in which proxies report clients.
const ForwardedFor = "X-Forwarded-For"

// Proxies are the proxies before the server, and what it is called by.
type Proxies struct {
	Trusted []netip.Prefix // their X-Forwarded-* headers are believed
	HTTPS   bool           // the server is called by https, whatever the proxies report
}

// Client is the address that a request came from: the peer's, or the one that trusted proxies report. Each
// proxy adds its own peer behind the others, in a line of its own or in the one that is there; so it is the
// rightmost address that is no trusted proxy. Addresses left of it may be the client's own invention.
func (p Proxies) Client(c *gin.Context) netip.Addr {
	addr := Peer(c)
	hops := strings.Split(strings.Join(c.Request.Header.Values(ForwardedFor), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !p.Trusts(addr) {
			break
		}
		reported := hopAddress(hop)
		if !reported.IsValid() {
			break
		}
		addr = reported
	}
	return addr
}

// Peer is the other end of the connection.
func Peer(c *gin.Context) netip.Addr { return hopAddress(c.Request.RemoteAddr) }

// hopAddress reads an address with a port or without; the zero Addr where it is none.
func hopAddress(text string) netip.Addr {
	text = strings.TrimSpace(text)
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}
		}
		addr = with.Addr()
	}
	return addr.Unmap().WithZone("")
}

// Trusts reports whether an address is a trusted proxy's.
func (p Proxies) Trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// Network is what counts as one client: an IPv4 address, or the /64 that one IPv6 subscriber has.
func Network(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

// Secure reports whether the browser uses https: to us, as a trusted proxy reports, or as the server is
// called.
func (p Proxies) Secure(c *gin.Context) bool {
	if c.Request.TLS != nil || p.HTTPS {
		return true
	}
	proto, _, _ := strings.Cut(c.GetHeader("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(proto), "https") && p.Trusts(Peer(c))
}

const hostPrefix = "__Host-" // keeps a neighbouring subdomain from planting a cookie

// HostCookie is the name of a cookie of this host alone.
func (p Proxies) HostCookie(c *gin.Context, name string) string {
	if p.Secure(c) {
		return hostPrefix + name
	}
	return name
}
