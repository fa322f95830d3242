package sqldb

import (
	"fmt"
	"sync"
	"time"
)

// probeEvery is the shortest time between two attempts on a database that is away. Other calls fail at once.
const probeEvery = 500 * time.Millisecond

// circuit remembers that the database is away.
type circuit struct {
	now func() time.Time

	mu      sync.Mutex
	opened  func(error) // called when the circuit opens; nil = no call
	err     error       // nil = closed
	since   time.Time
	next    time.Time // when the next attempt may start
	answers uint64    // questions that the database has answered
}

// enter returns nil if the caller may use the database. again is true if the database was away: the caller
// must try a write first.
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

// closed returns the error that enter would return, without using up an attempt.
func (c *circuit) closed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || !c.now().Before(c.next) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrAway, c.err)
}

// leave records the result of a question. A slow question proves nothing: its caller starts a probe. An
// answered one does not close the circuit: it may have begun before the circuit opened, or have read from a
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

// wrote closes the circuit after a write. It reports whether the database was away.
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

// probed records the result of a probe; answers is the count when the probe was sent. A later answer
// outweighs a failed probe. A probe writes nothing, so it does not close the circuit: again is true if a
// write must be tried for that.
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

// onOpen sets the function that is called with the error each time the circuit opens. It must not use the
// circuit.
func (c *circuit) onOpen(opened func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = opened
}

// state returns since when the database is away, and the error; nil if it is not away.
func (c *circuit) state() (since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.err
}

// count returns how many questions the database has answered.
func (c *circuit) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers
}
