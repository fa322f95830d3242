package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestBackoffIsATenthOfTheTimeWaitedAndThenThirtySeconds(t *testing.T) {
	for _, c := range []struct{ waited, want time.Duration }{
		{-time.Second, 0},
		{0, 0},
		{time.Millisecond, time.Millisecond},
		{time.Second, 100 * time.Millisecond},
		{1001 * time.Millisecond, 101 * time.Millisecond},
		{10 * time.Second, time.Second},
		{30 * time.Second, 3 * time.Second},
		{2 * time.Minute, 12 * time.Second},
		{2*time.Minute + time.Millisecond, 30 * time.Second},
		{3 * time.Minute, 30 * time.Second},
		{time.Hour, 30 * time.Second},
	} {
		require.Equal(t, c.want, outbox.Backoff(c.waited), c.waited)
	}
}

func TestRelockRestsByTheFormula(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		b.clock.Move(time.Hour) // no attempt in between: that is no waiting
		start := b.clock.Now()
		for _, waited := range []time.Duration{0, 1500 * time.Millisecond, 10 * time.Second, 2 * time.Minute,
			3 * time.Minute, time.Hour} {
			b.clock.Move(waited - b.clock.Now().Sub(start))
			task := b.mustClaim(t)
			require.Equal(t, start.UnixMilli(), task.WaitingSince)
			require.NoError(t, b.store.Relock(t.Context(), task, "answered 500"))
			b.clock.Move(outbox.Backoff(waited))
			b.requireNoneClaimable(t, "before its rest was over")
			b.clock.Move(time.Millisecond)
			again := b.mustClaim(t)
			require.Equal(t, "answered 500", again.LastError)
			require.NoError(t, b.store.Release(t.Context(), again))
		}
	})
}
