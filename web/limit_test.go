package web

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRateIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]Rate{
		"0": {}, "100/s": {100, 1000}, "30/m": {0.5, 5}, "1/m": {1.0 / 60, 1}, "0.5/s": {0.5, 5},
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestClientMayComeAgainAsSoonAsItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Rate{PerSecond: 2, Burst: 3})
		client, other := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("203.0.113.2")
		for range 3 {
			require.Zero(t, l.after(client))
		}
		wait := l.after(client)
		require.Equal(t, 500*time.Millisecond, wait)
		require.Equal(t, wait, l.after(client), "being refused costs nothing")
		require.Zero(t, l.after(other))
		time.Sleep(wait) // the bubble's clock, not ours
		require.Zero(t, l.after(client))
	})
}

func TestClientIsAnAddressOrASubscribersNetwork(t *testing.T) {
	require.Equal(t, network("203.0.113.1"), network("::ffff:203.0.113.1"))
	require.NotEqual(t, network("203.0.113.1"), network("203.0.113.2"))
	require.Equal(t, network("2001:db8::1"), network("2001:db8::ffff:1"))
	require.NotEqual(t, network("2001:db8::1"), network("2001:db8:0:1::1"))
	require.Equal(t, netip.Addr{}, network("nonsense"))
}
