package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestManySocketsAreClosedOverLongerAndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{cfg: Config{DrainSpread: 2 * time.Second}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for n, spread := range map[int]time.Duration{0: 2 * time.Second, 1000: 2 * time.Second,
			2250: 4500 * time.Millisecond, 9000: 10 * time.Second} {
			require.Equal(t, spread, h.drainSpread(ctx, n), n)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, 2*time.Second, h.drainSpread(soon, 9000))
		require.Equal(t, 18*time.Second, h.drainSpread(t.Context(), 9000))
	})
}
