package follow

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	retryFirst = 20 * time.Millisecond
	retryMost  = time.Second
)

// Backoff is the growing delay between retries: it doubles.
type Backoff struct {
	Most   time.Duration // default 1 s
	Jitter bool          // each wait is random, from half of the delay to all of it
	wait   time.Duration
}

// Next returns the next delay.
func (b *Backoff) Next() time.Duration {
	most := b.Most
	if most == 0 {
		most = retryMost
	}
	b.wait = min(max(2*b.wait, retryFirst), most)
	if b.Jitter {
		return b.wait/2 + rand.N(b.wait/2)
	}
	return b.wait
}

// Wait waits for the next delay; it returns false if ctx ended first.
func (b *Backoff) Wait(ctx context.Context) bool { return Pause(ctx, b.Next()) }

// Reset starts again after a success; it reports whether there was a failure.
func (b *Backoff) Reset() (failed bool) {
	failed = b.wait > 0
	b.wait = 0
	return failed
}

// Pause waits; it returns false if ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
