package sqldb

import (
	"fmt"
	"sync"
	"time"
)

// probeEvery is how often a database that is away is tried; everybody in between fails at once.
const probeEvery = 500 * time.Millisecond

// circuit remembers that the database is away.
type circuit struct {
	now func() time.Time

	mu      sync.Mutex
	err     error // nil = it works
	since   time.Time
	next    time.Time // when somebody may try again
	answers uint64    // how many questions it has answered
}

// enter is nil for whoever may try.
func (c *circuit) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	if now := c.now(); !now.Before(c.next) {
		c.next = now.Add(probeEvery)
		return nil
	}
	return fmt.Errorf("%w: %w", ErrAway, c.err)
}

// closed tells, without using up a try, whether there is one to have.
func (c *circuit) closed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || !c.now().Before(c.next) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrAway, c.err)
}

// leave takes in what became of a try. It is true when the database is back with this one. One that was slow
// says nothing: the probe that it calls for does.
func (c *circuit) leave(err error, slow bool) (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil || OfData(err):
		return c.answered()
	case !slow:
		c.failed(err)
	}
	return false
}

// fail opens the circuit.
func (c *circuit) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed(err)
}

// probed takes in what a probe found that was sent when the database had given so many answers. One that has
// come since says more than a probe that failed. It is true when the database is back.
func (c *circuit) probed(err error, answers uint64) (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		return c.answered()
	case c.answers == answers:
		c.failed(err)
	}
	return false
}

func (c *circuit) answered() (back bool) {
	back = c.err != nil
	c.err, c.since = nil, time.Time{}
	c.answers++
	return back
}

func (c *circuit) failed(err error) {
	if c.err == nil {
		c.since = c.now()
	}
	c.err, c.next = err, c.now().Add(probeEvery)
}

// state is since when the database is away, and why; a nil error where it is not.
func (c *circuit) state() (since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.err
}

// count is how many questions the database has answered.
func (c *circuit) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers
}
