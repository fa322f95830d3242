package web

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStoreThatIsAwayIsOneLineASecondWithHowManyFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a := &away{log: slog.New(slog.NewTextHandler(&out, nil))}
		fail := func(n int) {
			for range n {
				a.request("/api/:room/lock", errors.New("refused"))
			}
		}
		lines := func() int { synctest.Wait(); return strings.Count(out.String(), "level=WARN") }
		fail(100)
		require.Equal(t, 1, lines(), "at once")
		time.Sleep(time.Second) // the bubble's clock, not ours
		require.Equal(t, 2, lines())
		require.Contains(t, out.String(), "count=99")
		fail(7)
		require.Equal(t, 2, lines())
		time.Sleep(time.Second)
		require.Equal(t, 3, lines())
		require.Contains(t, out.String(), "count=7")
		time.Sleep(time.Minute)
		require.Equal(t, 3, lines())
		fail(1)
		require.Equal(t, 4, lines(), "at once again")
		time.Sleep(time.Minute)
	})
}

func TestLimitThatRefusesIsOneLineAMinuteWithItsSetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		n := newRefusals(slog.New(slog.NewTextHandler(&out, nil)), nil)
		for range 100 {
			n.note("ROOM_LIMIT", hopAddress("203.0.113.1"))
			n.note("PLACES_PER_IP", hopAddress("203.0.113.1"))
		}
		require.Equal(t, 2, strings.Count(out.String(), "level=WARN"))
		require.Contains(t, out.String(), "setting=WAITROOM_ROOM_LIMIT")
		require.Contains(t, out.String(), "setting=WAITROOM_PLACES_PER_IP")
		time.Sleep(time.Minute)
		n.note("ROOM_LIMIT", hopAddress("203.0.113.1"))
		require.Contains(t, out.String(), "count=100")
	})
}
