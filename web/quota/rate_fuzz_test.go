package quota

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A valid rate limits, unless it is 0: it admits some clients, and delays none for over a day.
func FuzzRate(f *testing.F) {
	for _, seed := range []string{"0", "100/s", "30/m", "0.5/s", "1e6/s", "1e-320/s", "1/86400/s", "0.0007/m",
		"5e-324/m", "NaN/s", "Inf/s", "-1/s", "0/s", "1/h", "/s", "0x1p-2/s", "1/s/s", ""} {
		f.Add(seed)
	}
	const day = 24*60*60*1e6 + 1 // µs
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRate(text)
		if err != nil {
			require.Equal(t, Rate{}, r)
			return
		}
		if text == "0" {
			require.Zero(t, r.interval())
			return
		}
		require.GreaterOrEqual(t, r.Burst, 1)
		require.Positive(t, r.interval())
		require.False(t, math.IsNaN(r.interval()))
		require.LessOrEqual(t, r.interval(), day)
	})
}
