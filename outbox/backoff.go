package outbox

import "time"

const (
	slowAfter = 2 * time.Minute  // from here on the rest no longer grows
	slowRest  = 30 * time.Second // the longest rest
)

// Backoff returns how long a task rests after it has waited for a time. The rest is a tenth of that time,
// rounded up to a millisecond, and 30 seconds once that is over 2 minutes.
func Backoff(waited time.Duration) time.Duration {
	ms := max(waited.Milliseconds(), 0)
	if ms > slowAfter.Milliseconds() {
		return slowRest
	}
	return time.Duration((ms+9)/10) * time.Millisecond
}
