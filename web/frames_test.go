package web

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

func TestOnlyTheSellersPageMayBeFramedAndOnlyByNamedOrigins(t *testing.T) {
	f := newFakeDesk()
	cfg := Config{Engine: shown{seat: room.Seat{Place: room.Place{Status: room.Idle}}}, Support: f.support()}
	nobody := handler(t, cfg)
	cfg.Ancestors = []string{"https://portal.example", "http://localhost:3000"}
	named := handler(t, cfg)
	for path, framed := range map[string]bool{
		"/": true, "/rooms/integration": true, "/rooms/integration/": false, "/rooms/nowhere": true, "/rooms/integration/join": false, "/support": false, "/support/sign-in": false, "/support/integration": false,
		"/api/integration/lock/status": false, "/nothing": false, "/static/embed.js": false,
	} {
		h := ask(t, nobody, http.MethodGet, path).Header()
		require.Equal(t, templates.ContentSecurityPolicy, h.Get("Content-Security-Policy"), path)
		require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)

		h = ask(t, named, http.MethodGet, path).Header()
		if !framed {
			require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
			require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
			continue
		}
		require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors https://portal.example http://localhost:3000", path)
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.NotContains(t, h.Get("Content-Security-Policy"), nobodyFrames, path)
		require.Empty(t, h.Values("X-Frame-Options"), path)
	}
}
