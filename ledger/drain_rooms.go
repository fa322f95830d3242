package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/waitroom/waitroom/room"
)

// roomLocks lets one goroutine of this process at a time drain a room. The zero value is ready.
type roomLocks struct {
	mu    sync.Mutex
	rooms map[room.ID]*roomLock
}

type roomLock struct {
	held  chan struct{}
	users int
}

// lockedRooms are rooms that one goroutine has locked, each with the function that unlocks it.
type lockedRooms map[room.ID]func()

// lock waits until it has locked all the rooms; the caller unlocks them. It locks them in order of their ids,
// so that two callers never wait for each other.
func (r *roomLocks) lock(ctx context.Context, ids []room.ID) (lockedRooms, error) {
	locked := make(lockedRooms, len(ids))
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		unlock, err := r.lockOne(ctx, id)
		if err != nil {
			locked.unlock()
			return nil, err
		}
		locked[id] = unlock
	}
	return locked, nil
}

func (r *roomLocks) lockOne(ctx context.Context, id room.ID) (unlock func(), err error) {
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

// ids returns the locked rooms in order.
func (l lockedRooms) ids() []room.ID { return slices.Sorted(maps.Keys(l)) }

func (l lockedRooms) unlock() { l.unlockExcept(nil) }

func (l lockedRooms) unlockExcept(kept []room.ID) {
	for _, id := range l.ids() {
		if !slices.Contains(kept, id) {
			l.unlockOne(id)
		}
	}
}

func (l lockedRooms) unlockOne(id room.ID) {
	l[id]()
	delete(l, id)
}
