package reply

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
