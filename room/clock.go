package room

import (
	"sync"
	"time"
)

// bestOf is how long the best guess at Redis's time is kept. It is long enough for some quick reply, and short enough to get over a
// clock that was set.
const bestOf = 5 * time.Second

// clock reckons Redis's time from its replies. A reply was written before it was read, so what a reply says is never too late, and
// the latest guess is the best.
type clock struct {
	mu         sync.Mutex
	start      time.Time     // of this process's own time
	now, then  time.Duration // Redis's time is ahead of our own by this at the least: since turned, and before
	turned     time.Time
	known, was bool
}

// observe takes in what time (unix ms) a reply named, right after it was read.
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

// at is Redis's time at an instant of this process, in unix ms, or somewhat before; 0 where Redis never answered.
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
