package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockGoesByTheMessageThatWasFastestOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		start := time.Now().UnixMilli()
		require.Equal(t, start, c.MS(), "ours, until Redis has spoken")
		const ahead = 5000 // of ours
		c.Sample(start + ahead - 80)
		require.Equal(t, start+ahead-80, c.MS())
		c.Sample(start + ahead - 3)
		c.Sample(start + ahead - 200)
		require.Equal(t, start+ahead-3, c.MS())
		require.Equal(t, time.Second, c.Until(start+ahead-3+1000))
		time.Sleep(2 * time.Second)
		require.Equal(t, start+ahead-3+2000, c.MS())
		require.Equal(t, 2*time.Second, c.Since(start+ahead-3))
		c.Forget()
		c.Sample(start)
		require.Equal(t, start, c.MS(), "another server may answer now")
	})
}
