package sqldb

import (
	"fmt"
	"sync"
	"time"
)

// probeEvery is how often a database that is away is tried; every call in between fails at once.
const probeEvery = 500 * time.Millisecond

// circuit remembers that the database is away.
type circuit struct {
	now func() time.Time

	mu      sync.Mutex
	opened  func(error) // called when it opens; may be nil
	err     error       // nil = it works
	since   time.Time
	next    time.Time // when a call may try again
	answers uint64    // how many calls it has answered
}

// enter returns nil for a call that may go on. again is true where the database was away: it
// has to take a write first.
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

// closed returns the error of a call, without using up a try.
func (c *circuit) closed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || !c.now().Before(c.next) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrAway, c.err)
}

// leave records the result of a call. A slow one proves nothing: its probe does. An answered one
// does not close the circuit: it may have begun before the circuit opened, or have read from a
// server that takes no writes.
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

// wrote closes the circuit: the database took a write. It returns true where the database was away.
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

// probed records the result of a probe that was sent after so many answers. A later answer outweighs a failed
// probe. A probe writes nothing, so it does not close the circuit: again is true where a write has to be
// tried for that.
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

// onOpen sets the function that is called with the reason, each time the circuit opens. It
// must not call the circuit.
func (c *circuit) onOpen(opened func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = opened
}

// state returns since when the database is away, and why; a nil error where it is not.
func (c *circuit) state() (since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.err
}

// count returns how many calls the database has answered.
func (c *circuit) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers
}
