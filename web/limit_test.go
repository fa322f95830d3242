package web

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimitThatRefusesIsOneLineAMinuteWithItsSetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		n := newRefusals(slog.New(slog.NewTextHandler(&out, nil)), nil)
		for range 100 {
			n.note("ROOM_LIMIT", netip.MustParseAddr("203.0.113.1"))
			n.note("PLACES_PER_IP", netip.MustParseAddr("203.0.113.1"))
		}
		require.Equal(t, 2, strings.Count(out.String(), "level=WARN"))
		require.Contains(t, out.String(), "setting=WAITROOM_ROOM_LIMIT")
		require.Contains(t, out.String(), "setting=WAITROOM_PLACES_PER_IP")
		time.Sleep(time.Minute)
		n.note("ROOM_LIMIT", netip.MustParseAddr("203.0.113.1"))
		require.Contains(t, out.String(), "count=100")
	})
}
