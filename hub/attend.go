package hub

import (
	"context"
	"sync"

	"github.com/waitroom/waitroom/room"
)

// attendances keeps, in the store, the list of the rooms in which this replica has told who is here: when it dies, others take that back there. One
// call at a time is under way, for all rooms that were asked for meanwhile.
type attendances struct {
	h *Hub

	calling sync.Mutex // held while the store is asked

	mu    sync.Mutex
	host  room.ReplicaNumber
	rooms map[room.ID]bool // true = in the list
}

func newAttendances(h *Hub) *attendances { return &attendances{h: h, rooms: make(map[room.ID]bool)} }

// ensure has the room in the list before it returns.
func (a *attendances) ensure(ctx context.Context, id room.ID, host room.ReplicaNumber) error {
	if a.listed(id, host) {
		return nil
	}
	a.calling.Lock()
	defer a.calling.Unlock()
	if a.listed(id, host) { // with somebody else's call
		return nil
	}
	rooms := a.wanted()
	if err := a.h.engine.Attend(ctx, host, rooms...); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range rooms {
		if a.host == host {
			a.rooms[id] = true
		}
	}
	return nil
}

// listed reports whether a room is in the list; where it is not, it is wanted.
func (a *attendances) listed(id room.ID, host room.ReplicaNumber) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.host < host {
		a.host = host
		clear(a.rooms)
	}
	if !a.rooms[id] {
		a.rooms[id] = false
	}
	return a.rooms[id]
}

func (a *attendances) wanted() (rooms []room.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, listed := range a.rooms {
		if !listed {
			rooms = append(rooms, id)
		}
	}
	return rooms
}

// drop takes a room out that has no sockets here any more, unless it has again. One too many in the list does no harm.
func (a *attendances) drop(ctx context.Context, id room.ID) {
	a.calling.Lock()
	defer a.calling.Unlock()
	a.mu.Lock()
	listed, host := a.rooms[id], a.host
	delete(a.rooms, id)
	a.mu.Unlock()
	if !listed || a.h.hall(id) != nil {
		return
	}
	if err := a.h.engine.Unattend(ctx, host, id); err != nil {
		a.h.failed(ctx, "room not taken from the list", id, err)
	}
}
