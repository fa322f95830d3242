package web

import (
	"testing"

	"github.com/stretchr/testify/require"
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
