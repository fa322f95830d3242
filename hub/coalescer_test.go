package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The head of the line is sent a change first, whether or not the line was sent one a moment ago. A second
// change does not put the first one off.
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
