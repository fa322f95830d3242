package presence

import (
	"context"
	"slices"
	"sync"

	"github.com/waitroom/waitroom/room"
)

// rooms keeps in Redis the list of the rooms in which this replica has reported sessions. When the replica
// dies, other replicas take its reports back there. One call is in progress at a time, for all rooms that
// were added meanwhile.
type rooms struct {
	r *Replica

	calling sync.Mutex // held while the store is asked

	mu     sync.Mutex
	number room.ReplicaNumber
	listed map[room.ID]bool // true = in the list
}

func newRooms(r *Replica) *rooms { return &rooms{r: r, listed: make(map[room.ID]bool)} }

// ensure returns once the room is in the list.
func (a *rooms) ensure(ctx context.Context, id room.ID, number room.ReplicaNumber) error {
	if a.has(id, number) {
		return nil
	}
	a.calling.Lock()
	defer a.calling.Unlock()
	if a.has(id, number) { // by another room's call
		return nil
	}
	wanted := a.wanted()
	if err := a.r.Engine.Attend(ctx, number, wanted...); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range wanted {
		if a.number == number {
			a.listed[id] = true
		}
	}
	return nil
}

// has reports whether a room is in the list, and otherwise asks for it to be added.
func (a *rooms) has(id room.ID, number room.ReplicaNumber) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.number < number {
		a.number = number
		clear(a.listed)
	}
	if !a.listed[id] {
		a.listed[id] = false
	}
	return a.listed[id]
}

func (a *rooms) wanted() (list []room.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, listed := range a.listed {
		if !listed {
			list = append(list, id)
		}
	}
	return list
}

// drop removes rooms without sockets from the list in one call, except those that have one again. A room too
// many in the list does no harm.
func (a *rooms) drop(ctx context.Context, ids []room.ID) {
	a.calling.Lock()
	defer a.calling.Unlock()
	gone, number := a.unlist(ids)
	gone = slices.DeleteFunc(gone, a.r.InUse)
	if len(gone) == 0 {
		return
	}
	if err := a.r.Engine.Unattend(ctx, number, gone...); err != nil {
		a.r.Tasks.Failed(ctx, "rooms not taken from the list", gone[0], err)
	}
}

// unlist forgets rooms, and returns those that were in the list.
func (a *rooms) unlist(ids []room.ID) (listed []room.ID, number room.ReplicaNumber) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if a.listed[id] {
			listed = append(listed, id)
		}
		delete(a.listed, id)
	}
	return listed, a.number
}
