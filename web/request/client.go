package request

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// ForwardedFor is the header in which proxies report clients.
const ForwardedFor = "X-Forwarded-For"

// Proxies describes the proxies before the server, and the server's scheme.
type Proxies struct {
	Trusted []netip.Prefix // their X-Forwarded-* headers are trusted
	HTTPS   bool           // the server's public URL is https, whatever the proxies report
}

// Client returns the address that a request came from: the peer's, or the one reported by trusted proxies.
// Each proxy appends its own peer, in a new line or in the existing one. The client is therefore the
// rightmost address that is no trusted proxy; addresses left of it may be forged.
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

// Peer returns the other end of the connection.
func Peer(c *gin.Context) netip.Addr { return hopAddress(c.Request.RemoteAddr) }

// hopAddress parses an address with or without a port; the zero Addr if it is invalid.
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

// Network returns the unit that counts as one client: an IPv4 address, or the /64 of one IPv6 subscriber.
func Network(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

// Secure reports whether the browser uses https: on this connection, by a trusted proxy's header, or by the
// public URL.
func (p Proxies) Secure(c *gin.Context) bool {
	if c.Request.TLS != nil || p.HTTPS {
		return true
	}
	proto, _, _ := strings.Cut(c.GetHeader("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(proto), "https") && p.Trusts(Peer(c))
}

const hostPrefix = "__Host-" // keeps a neighbouring subdomain from planting a cookie

// HostCookie returns the name of a cookie of this host alone.
func (p Proxies) HostCookie(c *gin.Context, name string) string {
	if p.Secure(c) {
		return hostPrefix + name
	}
	return name
}
