package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// entries applies what scripts journalled, except what was applied before.
func (w *work) entries(list []room.Entry) error {
	var notes []note
	for _, e := range list {
		if e.Odd != nil {
			return fmt.Errorf("%w: %w", errOdd, e.Odd)
		}
		for n, r := range e.Records {
			notes = append(notes, note{noteKey{e.Epoch, e.ID, int64(n)}, r})
		}
	}
	fresh, err := w.noteAll(notes)
	if err != nil {
		return err
	}
	for _, note := range notes {
		if !fresh[note.noteKey] {
			if err := w.appliedBefore(note.Record); err != nil {
				return err
			}
			continue
		}
		err := w.record(note)
		if errors.Is(err, errOdd) { // the others of the entry are none the worse
			err = w.park(room.Entry{ID: fmt.Sprintf("%s/%d", note.entry, note.n), Epoch: note.epoch, Records: []room.Record{note.Record}}, err)
		}
		if err != nil {
			return fmt.Errorf("entry %s: %s: %w", note.entry, note.Type, err)
		}
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

func (w *work) record(note note) error {
	epoch, r := note.epoch, note.Record
	switch r.Type {
	case "epoch":
		return w.epoch(epoch, r)
	case "told":
		return w.told(r)
	case "joined":
		return w.joined(epoch, r)
	case "granted":
		return w.granted(epoch, r)
	case "extended":
		_, err := w.exec(`UPDATE leases SET expires_at = $1 WHERE room = $2 AND fence = $3`, r.ExpiresAt, string(w.id), r.Fence)
		return err
	case "ended":
		return w.ended(epoch, r)
	case "message":
		return w.message(epoch, r)
	case claimed, assigned:
		return w.given(epoch, r)
	case rejected:
		return w.rejected(epoch, r)
	case "incident":
		return w.journalled(epoch, r)
	case "action":
		return w.action(note)
	}
	return nil // away, back, moved, asked, and what a later version may add: in the timeline
}

// joined opens a place. A ticket that somebody else has means that the store lost writes and gave it
// out again: the former holder's place is lost, and a person should know.
func (w *work) joined(epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Seller == "" {
		return fmt.Errorf("%w: place without a ticket or seller", errOdd)
	}
	written, err := w.exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (room, epoch, ticket) DO UPDATE SET seller = excluded.seller, joined_at = excluded.joined_at
		WHERE places.joined_at IS NULL`, string(w.id), epoch, r.Ticket, plain(r.Seller), r.At)
	if err != nil || written > 0 {
		return err
	}
	if err := w.replaceTicket(epoch, r); err != nil {
		return err
	}
	return w.incident(epoch, alarm{kind: "ticket_reused", subject: fmt.Sprint(epoch, "/", r.Ticket), ticket: r.Ticket,
		fence: r.At, detail: "a ticket was given out twice: the store lost writes", at: r.At, seller: r.Seller})
}

func (w *work) replaceTicket(epoch int64, r room.Record) error {
	var former room.Record
	var ended sql.NullInt64
	err := w.row(`SELECT seller, ended_at FROM places WHERE room = $1 AND epoch = $2 AND ticket = $3`,
		string(w.id), epoch, r.Ticket).Scan(&former.Seller, &ended)
	if err != nil {
		return err
	}
	if !ended.Valid {
		former.Type, former.At, former.Ticket, former.Outcome, former.EndedAt = "ended", r.At, r.Ticket, room.Lost, r.At
		if err := w.note(epoch, lostEntry, -r.At, former); err != nil {
			return err
		}
	}
	_, err = w.exec(`UPDATE places SET seller = $4, joined_at = $5, ended_at = NULL, outcome = NULL, fence = NULL
		WHERE room = $1 AND epoch = $2 AND ticket = $3`, string(w.id), epoch, r.Ticket, plain(r.Seller), r.At)
	return err
}

func (w *work) granted(epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Fence <= 0 {
		return fmt.Errorf("%w: lease without a ticket or fence", errOdd)
	}
	_, err := w.exec(`INSERT INTO places (room, epoch, ticket, seller, fence) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (room, epoch, ticket) DO UPDATE SET fence = excluded.fence`,
		string(w.id), epoch, r.Ticket, plain(r.Seller), r.Fence)
	if err != nil {
		return err
	}
	written, err := w.exec(`INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (room, fence) DO UPDATE SET granted_at = excluded.granted_at, expires_at = excluded.expires_at
		WHERE leases.granted_at IS NULL`, string(w.id), r.Fence, epoch, r.Ticket, plain(r.Seller), r.GrantedAt, r.ExpiresAt)
	if err != nil {
		return err
	}
	if written == 0 {
		return fmt.Errorf("%w: fence %d was granted before", errOdd, r.Fence)
	}
	return w.send("lock.granted", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
}

// ended closes a place and, where it held the lock, its lease. The first outcome stays.
func (w *work) ended(epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: end without a ticket or outcome", errOdd)
	}
	_, err := w.exec(`INSERT INTO places (room, epoch, ticket, seller, ended_at, outcome, fence)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (room, epoch, ticket) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome
		WHERE places.outcome IS NULL`,
		string(w.id), epoch, r.Ticket, plain(r.Seller), r.EndedAt, string(r.Outcome), sql.NullInt64{Int64: r.Fence, Valid: r.Fence != 0})
	if err != nil || r.Fence == 0 {
		return err
	}
	var granted, expires sql.NullInt64
	err = w.row(`INSERT INTO leases (room, fence, epoch, ticket, seller, ended_at, outcome)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (room, fence) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome
		WHERE leases.outcome IS NULL RETURNING granted_at, expires_at`,
		string(w.id), r.Fence, epoch, r.Ticket, plain(r.Seller), r.EndedAt, string(r.Outcome)).Scan(&granted, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // ended before
	}
	if err != nil {
		return err
	}
	return w.send("lock.ended", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: r.Outcome,
		GrantedAt: granted.Int64, ExpiresAt: expires.Int64, EndedAt: r.EndedAt})
}
