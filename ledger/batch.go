package ledger

import (
	"fmt"
)

// batch is the places and leases that a run of records is about: read at once, changed in memory in the journal's order,
// written at once. Nobody else changes them meanwhile, because the transaction is alone in its room.
type batch struct {
	places     map[placeKey]*place
	leases     map[int64]*lease
	placeOrder []*place // as the journal first names them
	leaseOrder []*lease
}

// alone is true of a record that reads or changes tables beside the batch: what is before it is written first.
func (n note) alone() bool {
	switch n.Type {
	case "epoch", "told", "message", claimed, assigned, rejected, "action":
		return true
	}
	return n.applied
}

// read takes in what the tables have of those that the notes are about.
func (w *work) read(notes []note) (*batch, error) {
	b := &batch{places: make(map[placeKey]*place), leases: make(map[int64]*lease)}
	for _, n := range notes {
		switch n.Type {
		case "joined", "granted", "ended":
			b.askPlace(placeKey{n.epoch, n.Ticket})
		}
		switch n.Type {
		case "granted", "extended", "ended":
			b.askLease(n.Fence)
		}
	}
	if err := w.readPlaces(b.places); err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	if err := w.readLeases(b.leases); err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	return b, nil
}

func (b *batch) askPlace(key placeKey) {
	if b.places[key] == nil {
		p := &place{placeKey: key}
		b.places[key], b.placeOrder = p, append(b.placeOrder, p)
	}
}

func (b *batch) askLease(fence int64) {
	if b.leases[fence] == nil {
		l := &lease{fence: fence}
		b.leases[fence], b.leaseOrder = l, append(b.leaseOrder, l)
	}
}

// write brings the tables to where the batch is.
func (w *work) write(b *batch) error {
	if err := w.writePlaces(b.placeOrder); err != nil {
		return fmt.Errorf("write places: %w", err)
	}
	if err := w.writeLeases(b.leaseOrder); err != nil {
		return fmt.Errorf("write leases: %w", err)
	}
	return nil
}
