package request

import (
	"net/http/httptest"
	"net/netip"
	"slices"
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
	p := Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("fd00::/8")}}
	for _, one := range []struct {
		name, want, peer string
		lines            []string
	}{
		{"no proxy", "203.0.113.9", "203.0.113.9:1234", nil},
		{"a stranger's word", "203.0.113.9", "203.0.113.9:1234", []string{"198.51.100.1"}},
		{"one proxy", "198.51.100.1", "10.0.0.1:1234", []string{"198.51.100.1"}},
		{"what the client wrote before", "198.51.100.1", "10.0.0.1:1234",
			[]string{"192.0.2.1, 198.51.100.1"}},
		{"what the client wrote in a line of its own", "198.51.100.1", "10.0.0.1:1234",
			[]string{"192.0.2.1", "198.51.100.1"}},
		{"two proxies in two lines", "198.51.100.1", "10.0.0.1:1234",
			[]string{"192.0.2.1", "198.51.100.1", "10.0.0.2"}},
		{"all ours", "10.0.0.3", "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}},
		{"nonsense from behind a proxy", "10.0.0.2", "10.0.0.1:1234",
			[]string{"192.0.2.1, unknown, 10.0.0.2"}},
		{"an empty line", "10.0.0.1", "10.0.0.1:1234", []string{""}},
		{"with a port", "198.51.100.1", "10.0.0.1:1234", []string{"198.51.100.1:4711"}},
		{"IPv6", "2001:db8::1", "[fd00::1]:1234", []string{"[2001:db8::1]:4711"}},
		{"IPv4 in IPv6", "198.51.100.1", "[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.1"}},
	} {
		require.Equal(t, one.want, p.Client(from(one.peer, one.lines...)).String(), one.name)
	}
}

func TestClientIsAnAddressOrASubscribersNetwork(t *testing.T) {
	of := func(text string) netip.Addr { return Network(hopAddress(text)) }
	require.Equal(t, of("203.0.113.1"), of("::ffff:203.0.113.1"))
	require.NotEqual(t, of("203.0.113.1"), of("203.0.113.2"))
	require.Equal(t, of("2001:db8::1"), of("2001:db8::ffff:1"))
	require.NotEqual(t, of("2001:db8::1"), of("2001:db8:0:1::1"))
	require.Equal(t, netip.Addr{}, of("nonsense"))
}

// FuzzForwardedFor requires that nothing a client writes into X-Forwarded-For changes its address: neither
// left of what trusted proxies appended, nor without such a proxy.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", ",", "10.0.0.2", "192.0.2.1, unknown", "[::1]:80",
		"10.0.0.1, 198.51.100.7", "::ffff:10.0.0.1", "fe80::1%eth0", "\x00", "198.51.100.1:99999"} {
		f.Add(seed, seed)
	}
	proxies := Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("fd00::/8")}}
	f.Fuzz(func(t *testing.T, line, second string) {
		require.Equal(t, "203.0.113.9", proxies.Client(from("203.0.113.9:1", line, second)).String(),
			"a stranger's word")
		require.Equal(t, "198.51.100.1", proxies.Client(from("10.0.0.1:1", line,
			second+", 198.51.100.1")).String(), "one proxy")
		require.Equal(t, "198.51.100.1", proxies.Client(from("10.0.0.1:1", line, second, "198.51.100.1",
			"10.2.3.4")).String(), "two proxies")
		client := proxies.Client(from("10.0.0.1:1", line, second))
		require.True(t, client.IsValid() && !client.Is4In6() && client.Zone() == "", client.String())
		if client.String() != "10.0.0.1" {
			hops := strings.Split(line+","+second, ",")
			require.True(t, slices.ContainsFunc(hops,
				func(hop string) bool { return hopAddress(hop) == client }), client.String())
		}
		require.False(t, proxies.Trusts(Network(client)) && !proxies.Trusts(client))
	})
}
