package room

import (
	"sync"
	"time"
)

// bestOf is how long the best estimate of Redis's time is kept. It is long enough to include a quick reply,
// and short enough to recover from a clock jump.
const bestOf = 5 * time.Second

// clock estimates Redis's time from its replies. Redis writes a reply before this process reads it, so the
// time in a reply is never ahead of Redis, and of several estimates the one furthest ahead is the best.
type clock struct {
	mu         sync.Mutex
	start      time.Time     // instant from which this process counts its monotonic time
	now, then  time.Duration // the greatest lead over this process's time: since `turned`, and before that
	turned     time.Time
	known, was bool
}

// observe records the time (unix ms) in a reply. The caller calls it right after reading the reply.
func (c *clock) observe(redis int64) {
	read := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start.IsZero() {
		c.start = read
	}
	if read.Sub(c.turned) > bestOf {
		c.then, c.was, c.known, c.turned = c.now, c.known, false, read
	}
	ahead := time.Duration(redis)*time.Millisecond - read.Sub(c.start)
	if !c.known || ahead > c.now {
		c.now, c.known = ahead, true
	}
}

// at returns Redis's time (unix ms) at an instant of this process, or slightly less; 0 before the first
// reply.
func (c *clock) at(instant time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := c.now
	switch {
	case !c.known && !c.was:
		return 0
	case !c.known || c.was && c.then > c.now:
		ahead = c.then
	}
	return (ahead + instant.Sub(c.start)).Milliseconds()
}
