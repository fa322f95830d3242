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
	opened  func(error) // has the word when it opens; nil = nobody has
	err     error       // nil = it works
	since   time.Time
	next    time.Time // when somebody may try again
	answers uint64    // how many questions it has answered
}

// enter is nil for whoever may ask. again is true where the database was away: it has to take a write first.
func (c *circuit) enter() (again bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return false, nil
	}
	if now := c.now(); !now.Before(c.next) {
		c.next = now.Add(probeEvery)
		return true, nil
	}
	return false, fmt.Errorf("%w: %w", ErrAway, c.err)
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

// leave takes in what became of a question. One that was slow says nothing: the probe that it calls for does. One that was answered does not close
// the circuit: it may have begun before the circuit opened, or have read where nobody can write.
func (c *circuit) leave(err error, slow bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil || OfData(err):
		c.answers++
	case !slow:
		c.failed(err)
	}
}

// wrote closes the circuit: the database took a write. It is true where the database was away.
func (c *circuit) wrote() (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	back = c.err != nil
	c.err, c.since = nil, time.Time{}
	c.answers++
	return back
}

// fail opens the circuit.
func (c *circuit) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed(err)
}

// probed takes in what a probe found that was sent when the database had given so many answers. One that has
// come since says more than a probe that failed. A probe writes nothing, so it does not close the circuit:
// again is true where a write has to be tried for that.
func (c *circuit) probed(err error, answers uint64) (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.answers++
		return c.err != nil
	case c.answers == answers:
		c.failed(err)
	}
	return false
}

func (c *circuit) failed(err error) {
	if c.err == nil {
		c.since = c.now()
		if c.opened != nil {
			c.opened(err)
		}
	}
	c.err, c.next = err, c.now().Add(probeEvery)
}

// tell has opened called with why, each time the circuit opens from now on. It must not ask the circuit.
func (c *circuit) tell(opened func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = opened
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
