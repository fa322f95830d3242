package ledger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// entries applies what scripts journalled, except what was applied before: in the journal's order, together what may be (see note.alone).
func (w *work) entries(list []room.Entry) error {
	notes, err := notesOf(list)
	if err != nil {
		return err
	}
	fresh, err := w.noteAll(notes)
	if err != nil {
		return err
	}
	for i := range notes {
		notes[i].applied = !fresh[notes[i].noteKey]
	}
	for len(notes) > 0 {
		n := slices.IndexFunc(notes, note.alone)
		if n < 0 {
			n = len(notes)
		}
		if err := w.together(notes[:n]); err != nil {
			return err
		}
		if n < len(notes) {
			if err := w.parkOdd(notes[n], w.record(notes[n])); err != nil {
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
		for n, r := range e.Records {
			notes = append(notes, note{noteKey: noteKey{e.Epoch, e.ID, int64(n)}, Record: r})
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

// together applies records none of which is alone.
func (w *work) together(notes []note) error {
	if len(notes) == 0 {
		return nil
	}
	b, err := w.read(notes)
	if err != nil {
		return err
	}
	for _, note := range notes {
		if err := w.parkOdd(note, w.inBatch(b, note)); err != nil {
			return err
		}
		if err := w.push(note.Record); err != nil {
			return err
		}
	}
	return w.write(b)
}

func (w *work) inBatch(b *batch, note note) error {
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
	if p.outcome == nil {
		err := w.note(epoch, lostEntry, -r.At, room.Record{Type: "ended", At: r.At, Ticket: r.Ticket, Seller: p.seller,
			Outcome: room.Lost, EndedAt: r.At})
		if err != nil {
			return err
		}
	}
	p.reuse(r)
	return w.incident(epoch, alarm{kind: "ticket_reused", subject: fmt.Sprint(epoch, "/", r.Ticket), ticket: r.Ticket,
		fence: r.At, detail: "a ticket was given out twice: the store lost writes", at: r.At, seller: r.Seller})
}

func (w *work) granted(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Fence <= 0 {
		return fmt.Errorf("%w: lease without a ticket or fence", errOdd)
	}
	b.places[placeKey{epoch, r.Ticket}].grant(r)
	if !b.leases[r.Fence].grant(epoch, r) {
		return fmt.Errorf("%w: fence %d was granted before", errOdd, r.Fence)
	}
	b.highest = max(b.highest, r.Fence)
	return w.send("lock.granted", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
}

// ended closes a place and, where it held the lock, its lease; of one that was not claimed the lease alone.
func (w *work) ended(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: end without a ticket or outcome", errOdd)
	}
	if r.Outcome != room.Unclaimed {
		b.places[placeKey{epoch, r.Ticket}].end(r)
	}
	if r.Fence == 0 {
		return nil
	}
	l := b.leases[r.Fence]
	if !l.end(epoch, r) {
		return nil
	}
	b.highest = max(b.highest, r.Fence)
	return w.send("lock.ended", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: r.Outcome,
		GrantedAt: orZero(l.granted), ExpiresAt: orZero(l.expires), EndedAt: r.EndedAt})
}
