package hub_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestSellersAreToldSinceWhenTheStoreIsSilentAndWhenItIsHeardAgain(t *testing.T) {
	t.Parallel()
	proxy := redistest.Start(t).Proxy()
	r := start(t, proxy.Client(), room.Config{}, hub.Config{Probe: 300 * time.Millisecond})
	s := r.dial(room.NewSession())
	s.untilStatus(room.Idle)
	proxy.Blackhole(redistest.ToClient)
	silent := s.untilOther(1)
	require.Equal(t, "ping", silent["type"])
	require.Less(t, silent["as_of"], silent["server_time"])
	proxy.Heal()
	heard := s.untilOther(2)
	require.Equal(t, "ping", heard["type"])
	require.NotContains(t, heard, "as_of")
}
