package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A change is sent to the head of the line first, even if the line has just been sent another change. A
// second change does not delay the first one.
func TestBackOfTheLineStandsBehindItsHead(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct{ until, want time.Time }{
		"quiet":               {time.Time{}, now.Add(headStart)},
		"sent long ago":       {now.Add(-time.Second), now.Add(headStart)},
		"about to be sent":    {now.Add(headStart / 2), now.Add(headStart)},
		"sent a moment ago":   {now.Add(100 * time.Millisecond), now.Add(100 * time.Millisecond)},
		"sent at this moment": {now, now.Add(headStart)},
	} {
		b := coalescer{until: c.until}
		b.behind(now)
		require.True(t, b.due, name)
		require.Equal(t, c.want, b.until, name)
		b.behind(now.Add(headStart / 2))
		require.Equal(t, c.want, b.until, name)
	}
}
