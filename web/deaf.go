package web

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// deaf warns at most once a minute that a proxy strips WebSocket upgrades. Pages poll then.
type deaf struct {
	log *slog.Logger

	mu    sync.Mutex
	at    time.Time
	count int // requests since the last line
}

func (d *deaf) note(sign string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	if time.Since(d.at) < noteEvery {
		return
	}
	d.log.Warn("no WebSocket comes through to a page, which asks every few seconds instead; have the proxy "+
		"speak HTTP/1.1 to waitroom and pass the headers Upgrade and Connection on, "+
		"for /api/{room}/ws (docs/proxies.md has nginx, Caddy, haproxy and Apache); where only single sellers are "+
		"concerned, it is their own network", "sign", sign, "count", d.count)
	d.at, d.count = time.Now(), 0
}

// fromBrowser reports whether a browser sent a request. Programs poll also where sockets come through: the
// Python client opens none.
func fromBrowser(h http.Header) bool { return strings.HasPrefix(h.Get("User-Agent"), "Mozilla/") }

// stripped reports whether a proxy removed the upgrade from a browser's socket request. Browsers always send
// these headers together.
func stripped(h http.Header) bool {
	return h.Get("Sec-WebSocket-Key") != "" && !strings.EqualFold(h.Get("Upgrade"), "websocket")
}
