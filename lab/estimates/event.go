package main

import "container/heap"

type kind int

const (
	arrives  kind = iota
	releases      // the lease is over
	leaves        // its patience is
	goes          // its browser is gone
	noticed       // for so long that it is passed over
	returns
	drops // for so long that it loses its place
)

// event is a future event of a place. It is skipped if the place has changed by then.
type event struct {
	at     float64
	n      int // in the order of planning: what comes at one instant has an order
	kind   kind
	ticket int
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (r *room) plan(at float64, k kind, ticket int) {
	r.planned++
	heap.Push(&r.events, event{at, r.planned, k, ticket})
}
