package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// With Redis Cluster, the jump of a shard's clock is reported once for each of its rooms.
func TestStepOfTheClockIsOneLineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 1000 {
			s.clockJumped(20 * time.Second)
		}
		require.Equal(t, 1, strings.Count(log.String(), "ahead=20s"))
		time.Sleep(time.Minute)
		s.clockJumped(5 * time.Second)
		require.Equal(t, 1, strings.Count(log.String(), "ahead=5s"))
	})
}

// The sweep notices that the clock was set back. The remaining time on sockets then follows the new clock.
func TestSocketsGoByRedissClockSoonAfterItWasSetBack(t *testing.T) {
	store := redistest.StartEmbedded(t)
	begin := time.Now()
	store.SetTime(begin)
	r := start(t, config(t, "--redis-url", "redis://"+store.Addr(), "--sockets-per-ip", "0", "--rate-limit",
		"0"))
	serverTime := func() int64 {
		ws := open(t, r.URL())
		defer func() { _ = ws.CloseNow() }()
		return int64(next(t, ws)["server_time"].(float64))
	}
	require.GreaterOrEqual(t, serverTime(), begin.Add(-time.Minute).UnixMilli())
	store.SetTime(begin.Add(-time.Hour))
	for serverTime() > begin.Add(-30*time.Minute).UnixMilli() {
		time.Sleep(10 * time.Millisecond)
	}
}
