package hub_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestSellersSeeSinceWhenTheStoreIsSilentAndWhenItAnswersAgain(t *testing.T) {
	t.Parallel()
	proxy := redistest.Start(t).Proxy()
	r := start(t, proxy.Client(), room.Config{}, hub.Config{Probe: 300 * time.Millisecond})
	s := r.dial(room.NewSession())
	s.untilStatus(room.Idle)
	proxy.Blackhole(redistest.ToClient)
	pings, silent := s.untilPing(0, true) // on a busy machine it may have been silent for a moment before
	require.Less(t, silent["as_of"], silent["server_time"])
	proxy.Heal()
	s.untilPing(pings, false)
}

// untilPing waits, after the first n frames that are no state, for a ping with or without the time since when
// Redis is silent. It returns the number of such frames before the ping.
func (s *socket) untilPing(n int, silent bool) (pings int, ping map[string]any) {
	s.t.Helper()
	for pings = n; ; {
		pings++
		ping = s.untilOther(pings)
		require.Equal(s.t, "ping", ping["type"])
		if (ping["as_of"] != nil) == silent {
			return pings, ping
		}
	}
}
