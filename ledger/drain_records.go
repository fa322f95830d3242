package ledger

import (
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// note is a record and its place in the timeline, which is known for ever: what is written there once
// is not applied again.
type note struct {
	noteKey
	room.Record
	applied bool   // before; only its verdict is to be told again
	trace   string // what tasks that follow from it are part of, as a traceparent; "" = nothing that is traced
}

type noteKey struct {
	epoch int64
	entry string
	n     int64
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

func notes(r *run) int { return len(r.notes) }

func notesOf(list []room.Entry) (notes []note, err error) {
	for _, e := range list {
		if e.Odd != nil {
			return nil, fmt.Errorf("%w: %w", errOdd, e.Odd)
		}
		trace := wellFormed(e.Trace)
		for n, r := range e.Records {
			notes = append(notes, note{noteKey: noteKey{e.Epoch, e.ID, int64(n)}, Record: r, trace: trace})
		}
	}
	return notes, nil
}

// apply applies what scripts journalled in some rooms, except what was applied before: of a room in the journal's order, and of all rooms together
// what is before the first record that is alone (see note.alone).
func apply(s sqldb.Session, runs []*run) error {
	if err := noteAll(s, runs); err != nil {
		return err
	}
	var first, rest []*run
	for _, r := range runs {
		n := r.untilAlone()
		first = append(first, &run{work: r.work, notes: r.notes[:n]})
		if n < len(r.notes) {
			rest = append(rest, &run{work: r.work, notes: r.notes[n:]})
		}
	}
	if err := applyRuns(s, first); err != nil {
		return err
	}
	for _, r := range rest {
		if err := r.inTurn(); err != nil {
			return err
		}
	}
	return nil
}

// untilAlone is how many notes are before the first that is alone.
func (r *run) untilAlone() int {
	if n := slices.IndexFunc(r.notes, note.alone); n >= 0 {
		return n
	}
	return len(r.notes)
}

// alone is true of a record that reads or changes tables beside the batch: what is before it is written first.
func (n note) alone() bool {
	switch n.Type {
	case "epoch", "told", claimed, assigned, rejected, "action":
		return true
	}
	return n.applied
}

// inTurn applies those that are alone one by one, and what is between them together.
func (r *run) inTurn() error {
	for notes := r.notes; len(notes) > 0; {
		next := &run{work: r.work, notes: notes}
		n := next.untilAlone()
		next.notes = notes[:n]
		if err := applyRuns(r.Session, []*run{next}); err != nil {
			return err
		}
		if n < len(notes) {
			if err := r.parkOdd(notes[n], r.record(notes[n])); err != nil {
				return err
			}
			n++
		}
		notes = notes[n:]
	}
	return nil
}

// record applies one that is alone.
func (w *work) record(note note) error {
	w.trace = note.trace
	epoch, r := note.epoch, note.Record
	if note.applied {
		return w.appliedBefore(r)
	}
	switch r.Type {
	case "epoch":
		return w.epoch(epoch, r)
	case "told":
		return w.told(r)
	case claimed, assigned:
		return w.given(epoch, r)
	case rejected:
		return w.rejected(epoch, r)
	case "action":
		return w.action(note)
	}
	return nil
}

// appliedBefore finds the verdict on a match that was judged before: whoever did so may have died before the room
// was told.
func (w *work) appliedBefore(r room.Record) error {
	if !r.Judge && !gives(r.Type) {
		return nil
	}
	agree, found, err := w.verdictOn(r)
	if err == nil && found { // else it is parked
		w.tellAgain(r, agree)
	}
	return err
}
