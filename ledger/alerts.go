package ledger

import (
	"sync"

	"github.com/waitroom/waitroom/room"
)

// bell calls Config.Alarmed on a goroutine of its own, so that nobody who writes an incident waits for it. A room that alarms
// again before it was told of is told of once.
type bell struct {
	alarmed func(room.ID) // nil = nobody wants to know

	mu      sync.Mutex
	rooms   map[room.ID]bool // to be told of
	ringing bool
	closed  bool
	running sync.WaitGroup
}

func (b *bell) ring(id room.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.alarmed == nil || b.closed {
		return
	}
	if b.rooms == nil {
		b.rooms = make(map[room.ID]bool)
	}
	b.rooms[id] = true
	if !b.ringing {
		b.ringing = true
		b.running.Go(b.run)
	}
}

func (b *bell) run() {
	for {
		id, ok := b.next()
		if !ok {
			return
		}
		b.alarmed(id)
	}
}

// next takes a room; without one the goroutine ends.
func (b *bell) next() (id room.ID, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id = range b.rooms {
		delete(b.rooms, id)
		return id, true
	}
	b.ringing = false
	return "", false
}

// close drops whom it has not told yet and waits for the call that goes on.
func (b *bell) close() {
	b.mu.Lock()
	b.closed, b.rooms = true, nil
	b.mu.Unlock()
	b.running.Wait()
}
