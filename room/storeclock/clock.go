// Package storeclock estimates Redis's time in a process, between its replies and events.
package storeclock

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// how long the best estimate is kept: long enough to include a quick message, and short enough to recover
	// from a clock jump without a report, or from another server whose clock is a little behind
	window = 5 * time.Second
	// how long after Redis's clock was set earlier messages may still arrive
	setFor  = 10 * time.Second
	setBack = 500 * time.Millisecond // and are recognised where it was set back by more than this
)

// Clock estimates Redis's time. Each message from Redis, a reply or an event, has the time at which Redis
// wrote it. This process reads it later, so an estimate by it is never ahead of Redis. Of several estimates
// the one furthest ahead is the best. This process's clock is the monotonic one.
type Clock struct {
	start time.Time    // instant from which this process counts its time
	lead  atomic.Int64 // Redis's unix time at that instant, ns; 0 = not known

	mu        sync.Mutex
	now, last int64 // the greatest lead in this window and in the one before; 0 = none
	turned    time.Time
	until     time.Time // before it, Sample ignores leads above most; see Restart
	most      int64
	asked     time.Time // when the call was sent whose answer last restarted the clock
}

// New returns a clock that knows no time before the first message.
func New() *Clock { return &Clock{start: time.Now()} }

// Sample records the time (unix ms) in a message. The caller calls it right after reading the message.
func (c *Clock) Sample(ms int64) {
	at := time.Now()
	lead := c.leadOf(at, ms)
	c.mu.Lock()
	defer c.mu.Unlock()
	if lead > c.most && at.Before(c.until) {
		return
	}
	if at.Sub(c.turned) > window {
		c.turned, c.last, c.now = at, c.now, 0
	}
	c.now = max(c.now, lead)
	c.lead.Store(max(c.now, c.last))
}

func (c *Clock) leadOf(at time.Time, ms int64) int64 {
	return ms*int64(time.Millisecond) - int64(at.Sub(c.start))
}

// Restart uses only Redis's answer to the call sent at `sent`, since its clock was set. Earlier messages that
// arrive later have times that the new clock has not reached; they are ignored, and so are answers to earlier
// calls.
func (c *Clock) Restart(sent time.Time, ms int64) {
	at := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent.Before(c.asked) {
		return
	}
	c.asked, c.turned = sent, at
	c.most, c.until = c.leadOf(sent, ms)+int64(setBack), at.Add(setFor)
	c.now, c.last = c.leadOf(at, ms), 0
	c.lead.Store(c.now)
}

// At returns Redis's time (unix ms) at an instant of this process, or slightly less; 0 before the first
// message.
func (c *Clock) At(instant time.Time) int64 {
	lead := c.lead.Load()
	if lead == 0 {
		return 0
	}
	return (lead + int64(instant.Sub(c.start))) / int64(time.Millisecond)
}

// MS returns the estimate of Redis's time in unix milliseconds; before the first message, this machine's.
func (c *Clock) MS() int64 { return -c.Until(0).Milliseconds() }

// Until returns how long it is until a time of Redis's clock (unix ms).
func (c *Clock) Until(ms int64) time.Duration {
	lead := c.lead.Load()
	if lead == 0 {
		lead = c.start.UnixNano()
	}
	return time.Duration(ms*int64(time.Millisecond) - lead - int64(time.Since(c.start)))
}

// Since returns how long ago a time of Redis's clock was (unix ms).
func (c *Clock) Since(ms int64) time.Duration { return max(-c.Until(ms), 0) }
