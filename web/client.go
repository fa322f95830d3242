package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

const forwardedFor = "X-Forwarded-For"

// client is the address that a request came from: the peer's, or, where that is a proxy of ours, what the proxies say. Each
// writes down behind the others whom it heard it from, in a line of its own or in the one that is there; so it is the
// rightmost address that is no proxy of ours. What stands left of it, the client may have written itself.
func (s *site) client(c *gin.Context) netip.Addr {
	addr := peer(c.Request)
	hops := strings.Split(strings.Join(c.Request.Header.Values(forwardedFor), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !s.isProxy(addr) {
			break
		}
		heard := hopAddress(hop)
		if !heard.IsValid() {
			break
		}
		addr = heard
	}
	return addr
}

// peer is the other end of the connection.
func peer(r *http.Request) netip.Addr { return hopAddress(r.RemoteAddr) }

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

func (s *site) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// fromProxy reports whether the request's headers were written by a proxy that we believe.
func (s *site) fromProxy(c *gin.Context) bool { return s.isProxy(peer(c.Request)) }

// network is who counts as one client: an IPv4 address, or the /64 that one IPv6 subscriber has.
func network(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

// unnamed warns once of a proxy that nobody has named: all who come through it look like one client.
type unnamed struct{ once sync.Once }

func (s *site) noticeProxy(c *gin.Context) {
	if c.GetHeader(forwardedFor) == "" {
		return
	}
	from := peer(c.Request)
	if s.isProxy(from) || !(from.IsPrivate() || from.IsLoopback() || from.IsLinkLocalUnicast()) {
		return
	}
	s.unnamed.once.Do(func() {
		s.Log.Warn("requests come through a proxy that is not in WAITROOM_TRUSTED_PROXIES (--trusted-proxies): "+
			"everybody behind it counts as one address, for every limit", "proxy", from.String())
	})
}
