package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// If the write were given up earlier, no worker would record the end, and the phase would be done again after
// its claim.
func TestEndOfAPhaseIsWrittenForAsLongAsTheClaimLasts(t *testing.T) {
	for name, c := range map[string]struct {
		left, stopped, want time.Duration // until the claim is over; when the worker is to stop; how long there is
	}{
		"while it runs":            {left: LockTimeout, stopped: time.Hour, want: LockTimeout},
		"the phase took all of it": {left: time.Second, stopped: time.Hour, want: settleTime},
		"it is stopped meanwhile": {left: LockTimeout, stopped: 2 * time.Second,
			want: 2*time.Second + settleTime},
		"it was to stop before":      {left: LockTimeout, stopped: 0, want: settleTime},
		"it is stopped near its end": {left: 6 * time.Second, stopped: 4 * time.Second, want: 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.stopped)
			defer cancel()
			settle, done := settling(ctx, time.Now().Add(c.left))
			defer done()
			began := time.Now()
			<-settle.Done()
			require.Equal(t, c.want, time.Since(began), name)
		})
	}
}
