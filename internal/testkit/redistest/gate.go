package redistest

import "sync"

// gate forwards traffic while open and holds it while shut.
type gate struct {
	mu  sync.Mutex
	way chan struct{} // closed while the gate is open
}

func newGate() *gate {
	g := &gate{way: make(chan struct{})}
	close(g.way)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() {
		g.way = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(g.way)
	}
}

func (g *gate) isOpen() bool {
	select {
	case <-g.way:
		return true
	default:
		return false
	}
}

// pass waits until the gate is open; it returns false if the channel `gone` is closed first.
func (g *gate) pass(gone <-chan struct{}) bool {
	g.mu.Lock()
	way := g.way
	g.mu.Unlock()
	select {
	case <-way:
		return true
	default:
	}
	select {
	case <-way:
		return true
	case <-gone:
		return false
	}
}
