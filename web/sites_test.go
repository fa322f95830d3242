package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/support"
)

func TestServerAnswersToItsOwnNamesOnly(t *testing.T) {
	public := func(text string) Hosts {
		h, err := HostOf(text)
		require.NoError(t, err)
		return h
	}
	for _, one := range []struct {
		name     string
		hosts    Hosts
		own, not []string
	}{
		{"anything", Hosts{}, []string{"evil.example", "", "127.0.0.1:8080"}, nil},
		{"https", public("https://wait.example"),
			[]string{"wait.example", "WAIT.example", "wait.example.", "wait.example:443"},
			[]string{"", "wait.example:80", "wait.example:8080", "evil.example", "wait.example.evil.example",
				"127.0.0.1", "localhost"}},
		{"http", public("http://wait.example"), []string{"wait.example", "wait.example:80"},
			[]string{"wait.example:443"}},
		{"a port", public("https://wait.example:8443"), []string{"wait.example:8443"},
			[]string{"wait.example", "wait.example:443"}},
		{"IPv6", public("http://[2001:db8::1]:8080"), []string{"[2001:db8::1]:8080"},
			[]string{"[2001:db8::2]:8080", "[2001:db8::1]"}},
		{"this machine", Loopback(), []string{"localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1",
			"127.0.0.1:8080", "[::1]", "[::1]:8080"},
			[]string{"", "evil.example", "localhost.evil.example", "10.0.0.1", "[2001:db8::1]:8080", "0.0.0.0:8080"}},
	} {
		for _, host := range one.own {
			require.True(t, one.hosts.has(host), "%s: %q", one.name, host)
		}
		for _, host := range one.not {
			require.False(t, one.hosts.has(host), "%s: %q", one.name, host)
		}
	}
}

func TestOnlyTheSellersPageMayBeFramedAndOnlyByNamedOrigins(t *testing.T) {
	cfg := Config{Engine: shown{seat: room.Seat{Place: room.Place{Status: room.Idle}}},
		Support: &support.Config{SignIns: byPassword{}}}
	stranger := handler(t, cfg)
	cfg.Ancestors = []string{"https://portal.example", "http://localhost:3000"}
	named := handler(t, cfg)
	for path, framed := range map[string]bool{
		"POST /rooms/integration/join": true, "POST /rooms/integration/link/x": false,
		"POST /api/integration/lock": false, "/": true, "/rooms/integration": true,
		"/rooms/integration/": false, "/rooms/nowhere": true,
		"/rooms/integration/join": false, "/support": false, "/support/sign-in": false,
		"/support/integration":         false,
		"/api/integration/lock/status": false, "/nothing": false, "/static/embed.js": false,
	} {
		method := http.MethodGet
		if of, rest, form := strings.Cut(path, " "); form {
			method, path = of, rest
		}
		h := ask(t, stranger, method, path).Header()
		require.Equal(t, templates.ContentSecurityPolicy, h.Get("Content-Security-Policy"), path)
		require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)

		h = ask(t, named, method, path).Header()
		if !framed {
			require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
			require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
			continue
		}
		require.Contains(t, h.Get("Content-Security-Policy"),
			"frame-ancestors https://portal.example http://localhost:3000", path)
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.NotContains(t, h.Get("Content-Security-Policy"), noFrames, path)
		require.Empty(t, h.Values("X-Frame-Options"), path)
	}
}

// signIn is support.SignIn under another name, so that a struct that embeds it can have a method SignIn.
type signIn support.SignIn

// byPassword is a sign-in with passwords, and without tokens of programs.
type byPassword struct{ signIn }

func (byPassword) ByPassword() bool { return true }

func (byPassword) TakesTokens() bool { return false }
