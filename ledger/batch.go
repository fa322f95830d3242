package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// batch is what a run of records is about, of places, leases and messages: read at once, changed in memory in the journal's
// order, written at once. Nobody else changes these meanwhile, because the transaction is alone in its room.
type batch struct {
	places     map[placeKey]*place
	leases     map[int64]*lease
	placeOrder []*place // as the journal first names them
	leaseOrder []*lease
	highest    int64 // of the fences that the run granted or ended

	messages  map[string]*known
	facts     map[noteKey]facts // of its matches, before the run
	concluded *dialect.Rows
	verified  []verification
}

// alone is true of a record that reads or changes tables beside the batch: what is before it is written first.
func (n note) alone() bool {
	switch n.Type {
	case "epoch", "told", claimed, assigned, rejected, "action":
		return true
	}
	return n.applied
}

func newBatch() batch {
	return batch{places: make(map[placeKey]*place), leases: make(map[int64]*lease), facts: make(map[noteKey]facts), concluded: newConcluded()}
}

// run is some of a room's records, in the journal's order, and what they are about.
type run struct {
	*work
	notes []note
	batch
}

// count is how many runs have in all of what n counts.
func count(runs []*run, n func(*run) int) (all int) {
	for _, r := range runs {
		all += n(r)
	}
	return all
}

// read takes in what the tables have of what the notes of some rooms are about.
func read(s sqldb.Session, runs []*run) error {
	for _, r := range runs {
		r.batch = newBatch()
		r.ask(r.notes)
	}
	if err := readPlaces(s, runs); err != nil {
		return fmt.Errorf("read places: %w", err)
	}
	if err := readLeases(s, runs); err != nil {
		return fmt.Errorf("read leases: %w", err)
	}
	for _, r := range runs {
		if err := r.readMessages(); err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
	}
	return nil
}

// ask notes what is to be read.
func (b *batch) ask(notes []note) {
	for _, n := range notes {
		switch n.Type {
		case "joined":
			b.askPlace(placeKey{n.epoch, n.Ticket})
		case "granted", "ended":
			b.askPlace(placeKey{n.epoch, n.Ticket})
			b.askLease(n.Fence)
		case "extended":
			b.askLease(n.Fence)
		}
	}
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

// readMessages takes in the messages and, of those that are to be judged, the facts.
func (r *run) readMessages() error {
	var notes []note
	var all []room.MessageNote
	for _, n := range r.notes {
		if n.Type == "message" && complete(n.Record) {
			notes, all = append(notes, n), append(all, n.MessageNote)
		}
	}
	var err error
	if r.messages, err = r.received(all); err != nil {
		return err
	}
	var keys []noteKey
	var matches []room.Record
	for _, n := range notes {
		if n.Judge && r.messages[plain(n.MessageID)].state != judged {
			keys, matches = append(keys, n.noteKey), append(matches, n.Record)
		}
	}
	found, err := r.work.factsOf(matches)
	if err != nil {
		return err
	}
	for i, key := range keys {
		r.facts[key] = found[i]
	}
	return nil
}

// factsOf are those of a match, with what the run has done before it. That its message was verified, answered or given meanwhile
// is not among them: one that has its answer is not judged again, and what gives one is alone.
func (b *batch) factsOf(match note) facts {
	f := b.facts[match.noteKey]
	for _, v := range b.verified {
		f.settled = f.settled || v.Fence > match.Fence || v.Fence == match.Fence && v.Completes
		f.overlapping = f.overlapping || v.EndedAt > match.GrantedAt && v.GrantedAt < match.EndedAt && v.Fence != match.Fence
	}
	f.passed = f.passed || b.highest > match.Fence
	if l := b.leases[match.Fence]; l != nil && l.outcome != nil {
		f.outcome = *l.outcome
	}
	return f
}

// write brings the tables to where the runs are.
func write(s sqldb.Session, runs []*run) error {
	if err := writePlaces(s, runs); err != nil {
		return fmt.Errorf("write places: %w", err)
	}
	if err := writeLeases(s, runs); err != nil {
		return fmt.Errorf("write leases: %w", err)
	}
	for _, r := range runs {
		if err := r.writeConcluded(r.concluded); err != nil {
			return fmt.Errorf("write messages: %w", err)
		}
		if err := r.writeVerifications(r.verified); err != nil {
			return fmt.Errorf("write verifications: %w", err)
		}
	}
	return nil
}
