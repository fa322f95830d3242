package server

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A setting's value works as its help describes, or stops the start with an error that names the setting. The
// error repeats the value only if it is no secret, and a parsed configuration prints no secret.
func FuzzSetting(f *testing.F) {
	const mark = "zq7hush"
	seeds := map[string][][2]string{"redis-url": {{"redis://:", "@h:1"}},
		"database-url": {{"postgres://u:", "@db/x"}}, "webhook-url": {{"https://a:", "@h"}},
		"support-users":  {{"kim:", ""}, {"kim:$2a$04$", ""}},
		"support-tokens": {{"kim:", ""}, {"kim:act:", ""}, {"kim:act:" + sha + ",lee:", ""}},
		"public-url": {{"https://.", ""}, {"https://wait.example#", ""}, {"HTTPS://wait.example//", ""},
			{"http://[fe80::1%25a]", ""}},
		"support-oidc-issuer": {{"https://login.example#", ""}},
		"trusted-proxies":     {{"::ffff:10.0.0.1", ""}, {"::ffff:10.0.0.0/104", ""}, {"::ffff:0:0/8", ""}}}
	all := settings()
	for i, s := range all {
		f.Add(uint8(i), s.fallback, "")
		for _, bad := range badValues[s.name] {
			f.Add(uint8(i), bad, "")
		}
		for _, seed := range seeds[s.name] {
			f.Add(uint8(i), seed[0], seed[1])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, before, after string) {
		s := all[int(which)%len(all)]
		if s.secret {
			before += mark
		}
		value := before + after
		var c Config
		err := s.read(&c, value)
		if err != nil {
			message := s.wrong(value, err).Error()
			require.Contains(t, message, s.env()+" (--"+s.name+")")
			require.False(t, s.secret && strings.Contains(message, mark), message)
			return
		}
		if s.secret && s.name != "redis-url" { // FuzzRedisURL has it: where the store is, is no secret
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), mark)
		}
		sane(t, c)
	})
}

// sane requires that a configuration is within its limits.
func sane(t *testing.T, c Config) {
	for _, addr := range []string{c.Addr, c.MetricsAddr} {
		if addr != "" {
			_, _, err := net.SplitHostPort(addr)
			require.NoError(t, err)
		}
	}
	for _, n := range []int{c.PlacesPerIP, c.SocketsPerIP, c.RoomLimit} {
		require.True(t, n >= 0 && n <= mostCounted)
	}
	require.False(t, c.Rooms.Has("support"))
	for _, network := range c.TrustedProxies {
		require.True(t, network.IsValid())
		require.True(t, network.Contains(network.Addr().Unmap()),
			"an address is compared without IPv6 around it: %s", network)
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		require.NoError(t, err)
		require.Equal(t, u.Scheme+"://"+u.Host, c.PublicURL, "an address of ours is this and a path")
		require.NotEmpty(t, strings.Trim(u.Hostname(), "."), "without a name of its own it would answer to any")
	}
	for _, near := range []string{c.SupportOIDC.Issuer, c.SellerJWKSURL} {
		u, err := url.Parse(near)
		require.NoError(t, err)
		require.True(t, near == "" || u.Scheme == "https" || isLoopback(u.Hostname()))
		require.Nil(t, u.User)
	}
	for _, token := range c.SupportTokens {
		require.True(t, tokenName.MatchString(token.Name) && tokenHash.MatchString(string(token.Hash)))
	}
	for name, hash := range c.SupportUsers {
		require.NotEmpty(t, name)
		require.True(t, strings.HasPrefix(string(hash), "$2"))
	}
}

// FuzzArguments checks that every command line stops the start or sets a setting. No error contains a
// secret's value.
func FuzzArguments(f *testing.F) {
	const mark = "zq7hush"
	for _, s := range allSettings() {
		f.Add("--"+s.name+"=", "--lease=x")
		f.Add("-"+s.name+"=", "")
		f.Add("--no"+s.name+"=", "--help")
	}
	f.Fuzz(func(t *testing.T, name, next string) {
		flag, _, isValue := strings.Cut(name, "=")
		_, err := ParseConfig([]string{name + mark, next})
		if err == nil || !isValue {
			return
		}
		for _, s := range settings() {
			if s.secret && strings.TrimLeft(flag, "-") == s.name && strings.HasPrefix(flag, "-") {
				require.NotContains(t, err.Error(), mark, "%q", name)
			}
		}
	})
}

// FuzzProxy requires that an address named in TRUSTED_PROXIES is recognised as a proxy when it connects.
func FuzzProxy(f *testing.F) {
	for _, seed := range []string{"10.0.0.7", "::1", "::ffff:10.0.0.7", "fe80::1%eth0", "10.0.0.7/8",
		"::ffff:10.0.0.7/128", "::ffff:10.0.0.7/90", "::/0", "0.0.0.0/0", "::a%/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		var c Config
		if strings.Contains(entry, ",") || readProxies(&c, entry) != nil || len(c.TrustedProxies) == 0 {
			return
		}
		addr, err := netip.ParseAddr(strings.TrimSpace(entry))
		if err != nil {
			network, err := netip.ParsePrefix(strings.TrimSpace(entry))
			require.NoError(t, err)
			addr = network.Addr()
		}
		require.True(t, c.TrustedProxies[0].Contains(addr.Unmap().WithZone("")), "%q is %s", entry,
			c.TrustedProxies[0])
	})
}
