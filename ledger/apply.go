package ledger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

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

// parkOdd puts a record aside that is odd: the others of its entry are none the worse.
func (w *work) parkOdd(note note, err error) error {
	if errors.Is(err, errOdd) {
		err = w.park(room.Entry{ID: fmt.Sprintf("%s/%d", note.entry, note.n), Epoch: note.epoch, Records: []room.Record{note.Record}}, err)
	}
	if err != nil {
		return fmt.Errorf("entry %s: %s: %w", note.entry, note.Type, err)
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

// applyRuns applies records none of which is alone.
func applyRuns(s sqldb.Session, runs []*run) error {
	if runs = slices.DeleteFunc(runs, func(r *run) bool { return len(r.notes) == 0 }); len(runs) == 0 {
		return nil
	}
	if err := read(s, runs); err != nil {
		return err
	}
	for _, r := range runs {
		for _, note := range r.notes {
			if err := r.parkOdd(note, r.inBatch(&r.batch, note)); err != nil {
				return err
			}
			if err := r.push(note.Record); err != nil {
				return err
			}
		}
	}
	return write(s, runs)
}

func (w *work) inBatch(b *batch, note note) error {
	w.trace = note.trace
	epoch, r := note.epoch, note.Record
	switch r.Type {
	case "joined":
		return w.joined(b, epoch, r)
	case "granted":
		return w.granted(b, epoch, r)
	case "extended":
		b.leases[r.Fence].extend(r)
	case "ended":
		return w.ended(b, epoch, r)
	case "message":
		return w.message(b, note)
	case "incident":
		return w.journalled(epoch, r)
	}
	return nil // away, back, moved, asked, and what a later version may add: in the timeline
}

// joined opens a place. A ticket that somebody else has means that the store lost writes and gave it
// out again: the former holder's place is lost, and a person should know.
func (w *work) joined(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Seller == "" {
		return fmt.Errorf("%w: place without a ticket or seller", errOdd)
	}
	p := b.places[placeKey{epoch, r.Ticket}]
	if p.join(r) {
		return nil
	}
	former := room.Lost
	if p.outcome != nil {
		former = room.Outcome(*p.outcome)
	} else {
		w.tally.places.end(room.Lost, 1)
		err := w.note(epoch, lostEntry, -r.At, room.Record{Type: "ended", At: r.At, Ticket: r.Ticket, Seller: p.seller,
			Outcome: room.Lost, EndedAt: r.At})
		if err != nil {
			return err
		}
	}
	p.reuse(r)
	w.tally.joined++
	w.tally.places.correct(former, goesOn)
	return w.incident(epoch, alarm{kind: "ticket_reused", subject: fmt.Sprint(epoch, "/", r.Ticket), ticket: r.Ticket,
		fence: r.At, detail: "a ticket was given out twice: the store lost writes", at: r.At, seller: r.Seller})
}

func (w *work) granted(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Fence <= 0 {
		return fmt.Errorf("%w: lease without a ticket or fence", errOdd)
	}
	p := b.places[placeKey{epoch, r.Ticket}]
	p.grant(r)
	if !b.leases[r.Fence].grant(epoch, r) {
		return fmt.Errorf("%w: fence %d was granted before", errOdd, r.Fence)
	}
	b.highest = max(b.highest, r.Fence)
	err := w.send("lock.granted", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
	if err != nil || p.outcome == nil {
		return err
	}
	// The store lost this after it was read here, and somebody else was faster to write that.
	at, err := w.endOf(r.Fence, max(r.GrantedAt, orZero(p.ended)))
	if err != nil {
		return err
	}
	return w.ended(b, epoch, room.Record{At: at, Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: room.Outcome(*p.outcome), EndedAt: at})
}

// ended closes a place and, where it held the lock, its lease; of one that was not claimed the lease alone.
func (w *work) ended(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: end without a ticket or outcome", errOdd)
	}
	if r.Outcome != room.Unclaimed && b.places[placeKey{epoch, r.Ticket}].end(r) {
		w.tally.places.end(r.Outcome, 1)
	}
	if r.Fence == 0 {
		return nil
	}
	l := b.leases[r.Fence]
	if !l.end(epoch, r) {
		return nil
	}
	w.tally.leases.end(r.Outcome, 1)
	b.highest = max(b.highest, r.Fence)
	return w.send("lock.ended", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: r.Outcome,
		GrantedAt: orZero(l.granted), ExpiresAt: orZero(l.expires), EndedAt: r.EndedAt})
}
