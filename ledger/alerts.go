package ledger

import (
	"sync"

	"github.com/waitroom/waitroom/room"
)

// alerts calls Config.OnIncident on its own goroutine, so that no writer of an incident waits for the call. A
// room with several incidents waiting gets one call.
type alerts struct {
	notify func(room.ID) // nil = no calls

	mu      sync.Mutex
	rooms   map[room.ID]bool // that wait for a call
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

// next returns a waiting room; without one, the goroutine ends.
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

// close drops the waiting rooms and waits for the call in progress.
func (b *alerts) close() {
	b.mu.Lock()
	b.closed, b.rooms = true, nil
	b.mu.Unlock()
	b.calls.Wait()
}
