package follow

import (
	"context"
	"sync"
)

// Channels is a set of Pub/Sub channels to subscribe to, with the changes since it was last carried out. Any
// goroutine may change it; one carries it out.
type Channels struct {
	mu      sync.Mutex
	wanted  map[string]struct{}
	changed map[string]struct{}
	kick    chan struct{}
}

func newChannels() *Channels {
	return &Channels{wanted: make(map[string]struct{}), changed: make(map[string]struct{}),
		kick: make(chan struct{}, 1)}
}

// Add adds a channel to the set.
func (c *Channels) Add(channel string) {
	c.mu.Lock()
	c.wanted[channel] = struct{}{}
	c.mu.Unlock()
	c.change(channel)
}

// Remove removes a channel from the set.
func (c *Channels) Remove(channel string) {
	c.mu.Lock()
	delete(c.wanted, channel)
	c.mu.Unlock()
	c.change(channel)
}

func (c *Channels) change(channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed[channel] = struct{}{}
	c.wake()
}

// again marks every channel of the set as changed, for a new connection.
func (c *Channels) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for channel := range c.wanted {
		c.changed[channel] = struct{}{}
	}
	c.wake()
}

func (c *Channels) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// next returns the changes: channels to subscribe to, and channels to unsubscribe from.
func (c *Channels) next() (on, off []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for channel := range c.changed {
		if _, want := c.wanted[channel]; want {
			on = append(on, channel)
		} else {
			off = append(off, channel)
		}
	}
	clear(c.changed)
	return on, off
}

// carryOut subscribes and unsubscribes as next says. The receiver notices failures; the client remembers its
// subscriptions.
func (c *Channels) carryOut(ctx context.Context, subscribe,
	unsubscribe func(context.Context, ...string) error) {
	on, off := c.next()
	if len(off) > 0 {
		_ = unsubscribe(ctx, off...)
	}
	if len(on) > 0 {
		_ = subscribe(ctx, on...)
	}
}
