package web

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
)

// from is a request of a peer with lines of X-Forwarded-For.
func from(peer string, lines ...string) *gin.Context {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("GET", "/", nil)
	c.Request.RemoteAddr = peer
	for _, line := range lines {
		c.Request.Header.Add("X-Forwarded-For", line)
	}
	return c
}

func TestUnnamedProxyIsWarnedOfOnce(t *testing.T) {
	var out bytes.Buffer
	m := newSite(Config{Log: slog.New(slog.NewTextHandler(&out, nil)),
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}).mw
	for _, quiet := range []*gin.Context{from("10.0.0.2:1"), from("10.0.0.1:1", "203.0.113.1"),
		from("203.0.113.9:1", "203.0.113.1")} {
		m.noticeProxy(quiet)
		require.Empty(t, out.String())
	}
	for range 3 {
		m.noticeProxy(from("10.0.0.2:1", "203.0.113.1"))
	}
	require.Equal(t, 1, strings.Count(out.String(), "WAITROOM_TRUSTED_PROXIES"))
	require.Contains(t, out.String(), "proxy=10.0.0.2")
}
