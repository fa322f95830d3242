package storeclock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockGoesByTheMessageThatWasFastestOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := time.Now().UnixMilli()
		require.Equal(t, start, c.MS(), "ours, until Redis has spoken")
		require.Zero(t, c.At(time.Now()))
		const ahead = 5000 // of ours
		c.Sample(start + ahead - 80)
		require.Equal(t, start+ahead-80, c.MS())
		c.Sample(start + ahead - 3)
		c.Sample(start + ahead - 200)
		require.Equal(t, start+ahead-3, c.MS())
		require.Equal(t, time.Second, c.Until(start+ahead-3+1000))
		time.Sleep(2 * time.Second)
		require.Equal(t, start+ahead-3+2000, c.MS())
		require.Equal(t, start+ahead-3+1000, c.At(time.Now().Add(-time.Second)))
		require.Equal(t, 2*time.Second, c.Since(start+ahead-3))
	})
}

func TestMessageOfBeforeRedisClockWasSetBackDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := time.Now().UnixMilli()
		c.Sample(start)
		sent := time.Now()
		time.Sleep(200 * time.Millisecond) // the answer was long on its way
		c.Restart(sent, start-20_000)
		require.Equal(t, start-20_000, c.MS())
		c.Sample(start + 100)
		require.Equal(t, start-20_000, c.MS(), "was sent before")
		c.Sample(start - 20_000 + 200)
		require.Equal(t, start-20_000+200, c.MS(), "was faster than the answer")

		c.Restart(time.Now(), start+30_000)
		require.Equal(t, start+30_000, c.MS(), "it is set ahead again")
		c.Sample(start - 20_000 + 200)
		require.Equal(t, start+30_000, c.MS(), "was sent before, too")
		c.Restart(time.Now(), start)
		time.Sleep(setFor)
		c.Sample(start + 60_000)
		require.Equal(t, start+60_000, c.MS(),
			"nothing of before comes in so late: the clock was set without a report")
	})
}

func TestAnswerToWhatWasAskedEarlierDoesNotRestartTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start, first := time.Now().UnixMilli(), time.Now()
		time.Sleep(time.Millisecond)
		c.Restart(time.Now(), start-20_000)
		c.Restart(first, start) // it was long on its way
		require.Equal(t, start-20_000, c.MS())
		c.Sample(start - 20_000 + 5)
		require.Equal(t, start-20_000+5, c.MS())
	})
}

func TestClockFollowsARedisThatWasSetBackWithoutAReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := time.Now().UnixMilli()
		c.Sample(start)
		for range 3 {
			time.Sleep(window + time.Millisecond)
			c.Sample(time.Now().UnixMilli() - 20_000)
		}
		require.Equal(t, time.Now().UnixMilli()-20_000, c.MS())
	})
}
