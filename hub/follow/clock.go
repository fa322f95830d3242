package follow

import (
	"sync"
	"sync/atomic"
	"time"
)

// clockWindow is for how long the fastest message counts; Redis's clock may drift from ours.
const clockWindow = 30 * time.Second

// Clock reckons what Redis's clock says now. Each message from Redis carries its time; the one that
// was fastest on its way bounds the difference best. Ours is the monotonic clock.
type Clock struct {
	Start  time.Time    // ours
	offset atomic.Int64 // ns to take from the time since start to get Redis's unix time

	mu        sync.Mutex
	now, last int64 // the least difference in this window and in the one before
	turned    time.Time
}

const noSample = int64(^uint64(0) >> 1)

// NewClock makes a clock that goes by our own until Redis has spoken.
func NewClock() *Clock {
	c := &Clock{Start: time.Now(), now: noSample, last: noSample}
	c.offset.Store(-c.Start.UnixNano()) // our own wall clock, until Redis has spoken
	return c
}

// Sample learns from a message of Redis's that carries unix millisecond ms and just came in.
func (c *Clock) Sample(ms int64) {
	at := time.Now()
	difference := int64(at.Sub(c.Start)) - ms*int64(time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.Sub(c.turned) > clockWindow {
		c.turned, c.last, c.now = at, c.now, noSample
	}
	c.now = min(c.now, difference)
	c.offset.Store(min(c.now, c.last))
}

// Forget drops what was learnt: another server may answer now.
func (c *Clock) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.last = noSample, noSample
}

// Restart goes by one message alone: Redis's clock was set.
func (c *Clock) Restart(ms int64) {
	c.Forget()
	c.Sample(ms)
}

// MS is Redis's time in unix milliseconds, as far as we can tell.
func (c *Clock) MS() int64 {
	return (int64(time.Since(c.Start)) - c.offset.Load()) / int64(time.Millisecond)
}

// Until is how long it is to unix millisecond ms of Redis's clock.
func (c *Clock) Until(ms int64) time.Duration {
	return time.Duration(ms*int64(time.Millisecond) + c.offset.Load() - int64(time.Since(c.Start)))
}

// Since is how long ago unix millisecond ms of Redis's clock was.
func (c *Clock) Since(ms int64) time.Duration { return max(-c.Until(ms), 0) }
