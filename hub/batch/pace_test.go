package batch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCallsForMoreThanOneRestAsLongAsTheyTakeButNeverLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, rests := range map[time.Duration]time.Duration{0: 0, time.Millisecond: 4 * time.Millisecond,
			time.Second: 20 * time.Millisecond} {
			var p pace
			p.begin()
			time.Sleep(took)
			ended := time.Now()
			require.True(t, p.rest(t.Context(), false))
			require.Equal(t, rests, time.Since(ended))
			require.True(t, p.rest(t.Context(), true))
			require.Equal(t, rests, time.Since(ended), "there is nothing to wait for after a full one")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := pace{began: time.Now().Add(-time.Second)}
		require.False(t, p.rest(ctx, false))
	})
}
