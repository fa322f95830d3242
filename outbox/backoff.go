package outbox

import (
	"errors"
	"time"
)

const (
	slowAfter = 2 * time.Minute  // from here on the rest no longer grows
	slowRest  = 30 * time.Second // the longest rest of Backoff
	mostAsked = time.Hour        // the longest rest of After
)

// After returns an error with which a phase is retried no sooner than after this time, at most an hour. It
// wraps err; Backoff may give a longer rest.
func After(rest time.Duration, err error) error { return &later{min(rest, mostAsked), err} }

type later struct {
	rest time.Duration
	err  error
}

func (l *later) Error() string { return l.err.Error() }

func (l *later) Unwrap() error { return l.err }

// restAsked returns the rest that an error asks for; 0 = none.
func restAsked(err error) time.Duration {
	if l, ok := errors.AsType[*later](err); ok {
		return l.rest
	}
	return 0
}

// Backoff returns how long a task rests after it has waited for a time. The rest is a tenth of that time,
// rounded up to a millisecond, and 30 seconds once that is over 2 minutes.
func Backoff(waited time.Duration) time.Duration {
	ms := max(waited.Milliseconds(), 0)
	if ms > slowAfter.Milliseconds() {
		return slowRest
	}
	return time.Duration((ms+9)/10) * time.Millisecond
}
