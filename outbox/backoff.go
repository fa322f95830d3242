package outbox

import "time"

const (
	slowAfter = 2 * time.Minute  // a task that has waited longer does not rest by tenths any more
	slowRest  = 30 * time.Second // but for this long
)

// Backoff is how long a task rests that has waited this long so far: a tenth of it, rounded up to a
// whole millisecond; 30 seconds once it has waited for over 2 minutes.
func Backoff(waited time.Duration) time.Duration {
	ms := max(waited.Milliseconds(), 0)
	if ms > slowAfter.Milliseconds() {
		return slowRest
	}
	return time.Duration((ms+9)/10) * time.Millisecond
}
