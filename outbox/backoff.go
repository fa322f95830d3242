package outbox

import "time"

// slowAfter is when a task no longer waits by tenths but as long as a claim lasts.
const slowAfter = 2 * time.Minute

// Backoff is how long a task rests that has waited this long so far: a tenth of it, rounded up to a
// whole millisecond; 30 seconds once it has waited for over 2 minutes.
func Backoff(waited time.Duration) time.Duration {
	ms := max(waited.Milliseconds(), 0)
	if ms > slowAfter.Milliseconds() {
		return LockTimeout
	}
	return time.Duration((ms+9)/10) * time.Millisecond
}
