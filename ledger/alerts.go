package ledger

import (
	"sync"

	"github.com/waitroom/waitroom/room"
)

// bell calls Config.Alarmed on a goroutine of its own, so that nobody who writes an incident waits for it. A room that alarms
// again before it was told of is told of once.
type alerts struct {
	notify func(room.ID) // nil = nobody wants to know

	mu      sync.Mutex
	rooms   map[room.ID]bool // to be told of
	running bool
	closed  bool
	calls   sync.WaitGroup
}

func (b *alerts) raise(id room.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notify == nil || b.closed {
		return
	}
	if b.rooms == nil {
		b.rooms = make(map[room.ID]bool)
	}
	b.rooms[id] = true
	if !b.running {
		b.running = true
		b.calls.Go(b.run)
	}
}

func (b *alerts) run() {
	for {
		id, ok := b.next()
		if !ok {
			return
		}
		b.notify(id)
	}
}

// next takes a room; without one the goroutine ends.
func (b *alerts) next() (id room.ID, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id = range b.rooms {
		delete(b.rooms, id)
		return id, true
	}
	b.running = false
	return "", false
}

// close drops whom it has not told yet and waits for the call that goes on.
func (b *alerts) close() {
	b.mu.Lock()
	b.closed, b.rooms = true, nil
	b.mu.Unlock()
	b.calls.Wait()
}
