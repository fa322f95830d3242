package follow

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// how long the sample of the fastest message counts, since the clocks drift apart
	clockWindow = 30 * time.Second
	// how long after Redis's clock was set earlier messages may still arrive
	setFor  = 10 * time.Second
	setBack = 500 * time.Millisecond // and are recognised where it was set back by more than this
)

// Clock estimates Redis's time. Each message from Redis has that time; the message that arrived fastest gives
// the best estimate. This process's clock is the monotonic one.
type Clock struct {
	Start  time.Time    // instant from which this process counts its time
	offset atomic.Int64 // ns to take from the time since start to get Redis's unix time

	mu        sync.Mutex
	now, last int64 // the least difference in this window and in the one before
	turned    time.Time
	least     int64 // what a difference is at the least until then
	until     time.Time
	asked     time.Time // when the call was sent whose answer last restarted the clock
}

const noSample = int64(^uint64(0) >> 1)

// NewClock returns a clock that shows this machine's time until the first message from Redis.
func NewClock() *Clock {
	c := &Clock{Start: time.Now(), now: noSample, last: noSample}
	c.offset.Store(-c.Start.UnixNano()) // our own wall clock, until Redis has spoken
	return c
}

// Sample records a message with Redis's time (unix ms) that has just arrived.
func (c *Clock) Sample(ms int64) {
	at := time.Now()
	difference := int64(at.Sub(c.Start)) - ms*int64(time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	if difference < c.least && at.Before(c.until) {
		return
	}
	if at.Sub(c.turned) > clockWindow {
		c.turned, c.last, c.now = at, c.now, noSample
	}
	c.now = min(c.now, difference)
	c.offset.Store(min(c.now, c.last))
}

// Forget drops all samples, since another server may answer now.
func (c *Clock) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.last, c.until = noSample, noSample, time.Time{}
}

// Restart uses only Redis's answer to the call sent at `sent`, since its clock was set. Earlier messages that
// arrive later have times that the new clock has not reached; they are ignored, and so are answers to earlier
// calls.
func (c *Clock) Restart(sent time.Time, ms int64) {
	at, unix := time.Now(), ms*int64(time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent.Before(c.asked) {
		return
	}
	c.asked, c.turned = sent, at
	c.least, c.until = int64(sent.Sub(c.Start))-unix-int64(setBack), at.Add(setFor)
	c.now, c.last = int64(at.Sub(c.Start))-unix, noSample
	c.offset.Store(c.now)
}

// MS returns the estimate of Redis's time in unix milliseconds.
func (c *Clock) MS() int64 {
	return (int64(time.Since(c.Start)) - c.offset.Load()) / int64(time.Millisecond)
}

// Until returns how long it is until a time of Redis's clock (unix ms).
func (c *Clock) Until(ms int64) time.Duration {
	return time.Duration(ms*int64(time.Millisecond) + c.offset.Load() - int64(time.Since(c.Start)))
}

// Since returns how long ago a time of Redis's clock was (unix ms).
func (c *Clock) Since(ms int64) time.Duration { return max(-c.Until(ms), 0) }
