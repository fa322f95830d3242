package ledger

import (
	"context"
	"fmt"
	"sync"

	"github.com/waitroom/waitroom/room"
)

// roomLocks lets one goroutine of this process drain a room at a time. The zero value is ready.
type roomLocks struct {
	mu    sync.Mutex
	rooms map[room.ID]*roomLock
}

type roomLock struct {
	held  chan struct{}
	users int
}

// lock waits for the room; call the function it returns to let go.
func (r *roomLocks) lock(ctx context.Context, id room.ID) (unlock func(), err error) {
	l := r.use(id)
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; r.leave(id, l) }, nil
	case <-ctx.Done():
		r.leave(id, l)
		return nil, fmt.Errorf("wait for room: %w", ctx.Err())
	}
}

func (r *roomLocks) use(id room.ID) *roomLock {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.rooms[id]
	if l == nil {
		if r.rooms == nil {
			r.rooms = make(map[room.ID]*roomLock)
		}
		l = &roomLock{held: make(chan struct{}, 1)}
		r.rooms[id] = l
	}
	l.users++
	return l
}

func (r *roomLocks) leave(id room.ID, l *roomLock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(r.rooms, id)
	}
}
