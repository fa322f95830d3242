package follow

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimeBetweenAttemptsDoublesUpToTheMost(t *testing.T) {
	const ms = time.Millisecond
	b := Backoff{Most: 100 * ms}
	require.False(t, b.Reset(), "nothing has failed yet")
	for _, want := range []time.Duration{20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms} {
		require.Equal(t, want, b.Next())
	}
	require.True(t, b.Reset())
	require.Equal(t, 20*ms, b.Next())
	b = Backoff{Jitter: true}
	for want := 20 * ms; want < time.Second; want *= 2 {
		got := b.Next()
		require.True(t, got >= want/2 && got < want, "%v of %v", got, want)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var b Backoff
		require.True(t, b.Wait(t.Context()))
		require.Equal(t, 20*time.Millisecond, time.Since(began))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.False(t, b.Wait(ctx))
		require.Equal(t, 20*time.Millisecond, time.Since(began))
	})
}
