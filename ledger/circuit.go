package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// probeEvery is how often a database that is away is tried; everybody in between fails at once.
const probeEvery = 500 * time.Millisecond

// circuit remembers that the database is away.
type circuit struct {
	now func() time.Time

	mu    sync.Mutex
	err   error // nil = it works
	since time.Time
	next  time.Time // when somebody may try again
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

// leave takes in what became of a try. It is true when the database is back with this one.
func (c *circuit) leave(err error) (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil || odd(err):
		back = c.err != nil
		c.err, c.since = nil, time.Time{}
	case errors.Is(err, context.Canceled): // says nothing about the database
	default:
		if c.err == nil {
			c.since = c.now()
		}
		c.err, c.next = err, c.now().Add(probeEvery)
	}
	return back
}

// state is since when the database is away, and why; a nil error where it is not.
func (c *circuit) state() (since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.err
}
