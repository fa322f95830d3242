package web

import (
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/request"
)

// unnamed warns once about a proxy that is not in TRUSTED_PROXIES: all its clients then have its address.
type unnamed struct{ once sync.Once }

func (m *middleware) noticeProxy(c *gin.Context) {
	if c.GetHeader(request.ForwardedFor) == "" {
		return
	}
	from := request.Peer(c)
	if m.proxies.Trusts(from) || !(from.IsPrivate() || from.IsLoopback() || from.IsLinkLocalUnicast()) {
		return
	}
	m.unnamed.once.Do(func() {
		m.Log.Warn("requests come through a proxy that is not in WAITROOM_TRUSTED_PROXIES "+
			"(--trusted-proxies): "+
			"all clients behind it count as one address, for every limit", "proxy", from.String())
	})
}
