package hub

import (
	"context"
	"sync"
	"time"
)

// rounds has all rooms in some order, to visit them in turn.
type rounds struct {
	mu      sync.Mutex
	rooms   []*localRoom
	visited int // the next one to visit
	checked int // the next one to compare with the engine
}

func (r *rounds) add(l *localRoom) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.turn = len(r.rooms)
	r.rooms = append(r.rooms, l)
}

func (r *rounds) remove(l *localRoom) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.rooms) - 1
	r.rooms[l.turn] = r.rooms[last]
	r.rooms[l.turn].turn = l.turn
	r.rooms[last] = nil
	r.rooms = r.rooms[:last]
}

// next returns the next n rooms to compare, each once.
func (r *rounds) next(n int) []*localRoom { return r.some(&r.checked, n) }

// visit returns the next part of the rooms, of a number of parts.
func (r *rounds) visit(parts int) []*localRoom {
	r.mu.Lock()
	n := (len(r.rooms) + parts - 1) / parts
	r.mu.Unlock()
	return r.some(&r.visited, n)
}

func (r *rounds) some(at *int, n int) []*localRoom {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = min(n, len(r.rooms))
	list := make([]*localRoom, 0, n)
	for range n {
		if *at >= len(r.rooms) {
			*at = 0
		}
		list = append(list, r.rooms[*at])
		*at++
	}
	return list
}

const visitParts = 8 // over how many moments the visits are spread

// visits visits each room in turn, see localRoom.visit.
func (h *Hub) visits(ctx context.Context) {
	tick := time.NewTicker(h.liveness.Visit / visitParts)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			h.liveness.StoodStill(now.Sub(last), h.now())
			last = now
			for _, l := range h.rounds.visit(visitParts) {
				l.visit()
				l.followTimes()
			}
		}
	}
}
