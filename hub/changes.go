package hub

import (
	"sync"

	"github.com/waitroom/waitroom/room"
)

// Changes is sent to after a room's event, once for several; it is closed when this replica drains. stop has to be called.
func (h *Hub) Changes(id room.ID) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	for {
		l := h.open(id)
		if l.listen(c) {
			return c, sync.OnceFunc(func() { l.unlisten(c) })
		}
	}
}

// listen is false where the room was retired meanwhile.
func (l *localRoom) listen(c chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	if l.h.draining.Load() {
		close(c)
		return true
	}
	if l.listeners == nil {
		l.listeners = make(map[chan struct{}]struct{})
	}
	l.listeners[c] = struct{}{}
	return true
}

func (l *localRoom) unlisten(c chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.listeners, c)
}

// tellListeners is for the room's lock.
func (l *localRoom) tellListeners() {
	for c := range l.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (l *localRoom) dismissListeners() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.listeners {
		close(c)
	}
	clear(l.listeners)
}
