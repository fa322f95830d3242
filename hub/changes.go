package hub

import (
	"sync"

	"github.com/waitroom/waitroom/room"
)

// Changes returns a channel that gets a value after a room's events, one for several. The channel is closed
// when this replica drains. The caller has to call stop.
func (h *Hub) Changes(id room.ID) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	for {
		l := h.open(id)
		if l.listeners.add(c) {
			return c, sync.OnceFunc(func() { l.listeners.remove(c) })
		}
	}
}

// listeners are the callers of Changes of a room, which is not retired while it has any. The room's lock
// guards them.
type listeners struct {
	l   *localRoom
	all map[chan struct{}]struct{}
}

// add returns false if the room was retired meanwhile.
func (n *listeners) add(c chan struct{}) bool {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.l.dead {
		return false
	}
	if n.l.h.draining.Load() {
		close(c)
		return true
	}
	if n.all == nil {
		n.all = make(map[chan struct{}]struct{})
	}
	n.all[c] = struct{}{}
	return true
}

func (n *listeners) remove(c chan struct{}) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	delete(n.all, c)
}

// send sends a value to each listener. The caller holds the room's lock.
func (n *listeners) send() {
	for c := range n.all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (n *listeners) dismiss() {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	for c := range n.all {
		close(c)
	}
	clear(n.all)
}
