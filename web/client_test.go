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

func TestClientIsTheRightmostAddressThatIsNoProxyOfOurs(t *testing.T) {
	s := &site{Config: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}}
	for _, one := range []struct {
		name, want, peer string
		lines            []string
	}{
		{"no proxy", "203.0.113.9", "203.0.113.9:1234", nil},
		{"a stranger's word", "203.0.113.9", "203.0.113.9:1234", []string{"198.51.100.1"}},
		{"one proxy", "198.51.100.1", "10.0.0.1:1234", []string{"198.51.100.1"}},
		{"what the client wrote before", "198.51.100.1", "10.0.0.1:1234", []string{"192.0.2.1, 198.51.100.1"}},
		{"what the client wrote in a line of its own", "198.51.100.1", "10.0.0.1:1234", []string{"192.0.2.1", "198.51.100.1"}},
		{"two proxies in two lines", "198.51.100.1", "10.0.0.1:1234", []string{"192.0.2.1", "198.51.100.1", "10.0.0.2"}},
		{"all ours", "10.0.0.3", "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}},
		{"nonsense from behind a proxy", "10.0.0.2", "10.0.0.1:1234", []string{"192.0.2.1, unknown, 10.0.0.2"}},
		{"an empty line", "10.0.0.1", "10.0.0.1:1234", []string{""}},
		{"with a port", "198.51.100.1", "10.0.0.1:1234", []string{"198.51.100.1:4711"}},
		{"IPv6", "2001:db8::1", "[fd00::1]:1234", []string{"[2001:db8::1]:4711"}},
		{"IPv4 in IPv6", "198.51.100.1", "[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.1"}},
	} {
		require.Equal(t, one.want, s.client(from(one.peer, one.lines...)).String(), one.name)
	}
}

func TestClientIsAnAddressOrASubscribersNetwork(t *testing.T) {
	of := func(text string) netip.Addr { return network(hopAddress(text)) }
	require.Equal(t, of("203.0.113.1"), of("::ffff:203.0.113.1"))
	require.NotEqual(t, of("203.0.113.1"), of("203.0.113.2"))
	require.Equal(t, of("2001:db8::1"), of("2001:db8::ffff:1"))
	require.NotEqual(t, of("2001:db8::1"), of("2001:db8:0:1::1"))
	require.Equal(t, netip.Addr{}, of("nonsense"))
}

func TestProxyThatNobodyNamedIsWarnedOfOnce(t *testing.T) {
	var out bytes.Buffer
	s := &site{Config: Config{Log: slog.New(slog.NewTextHandler(&out, nil)), Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}}
	for _, quiet := range []*gin.Context{from("10.0.0.2:1"), from("10.0.0.1:1", "203.0.113.1"), from("203.0.113.9:1", "203.0.113.1")} {
		s.noticeProxy(quiet)
		require.Empty(t, out.String())
	}
	for range 3 {
		s.noticeProxy(from("10.0.0.2:1", "203.0.113.1"))
	}
	require.Equal(t, 1, strings.Count(out.String(), "WAITROOM_TRUSTED_PROXIES"))
	require.Contains(t, out.String(), "proxy=10.0.0.2")
}
