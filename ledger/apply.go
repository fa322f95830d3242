package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// entry applies what one script journalled, unless it was applied before.
func (w *work) entry(e room.Entry) error {
	if e.Odd != nil {
		return fmt.Errorf("%w: %w", errOdd, e.Odd)
	}
	for n, r := range e.Records {
		first, err := w.note(e.Epoch, e.ID, int64(n), r)
		if err != nil {
			return fmt.Errorf("entry %s: %w", e.ID, err)
		}
		if !first {
			continue
		}
		err = w.record(e, int64(n), r)
		if errors.Is(err, errOdd) { // the others of the entry are none the worse
			err = w.park(room.Entry{ID: fmt.Sprintf("%s/%d", e.ID, n), Epoch: e.Epoch, Records: e.Records[n : n+1]}, err)
		}
		if err != nil {
			return fmt.Errorf("entry %s: %s: %w", e.ID, r.Type, err)
		}
	}
	return nil
}

// note writes a record into the timeline; first is false where it is there already.
func (w *work) note(epoch int64, entry string, n int64, r room.Record) (first bool, err error) {
	changed, err := w.exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		string(w.id), epoch, entry, n, r.At, plain(r.Type), r.Ticket, r.Fence, plain(r.Seller), detailOf(r))
	return changed > 0, err
}

// detail is what a timeline says beyond its columns; nothing of a message's text is in it.
type detail struct {
	Outcome   room.Outcome `json:"outcome,omitempty"`
	EndedAt   int64        `json:"ended_at,omitempty"`
	ExpiresAt int64        `json:"expires_at,omitempty"`
	Since     int64        `json:"since,omitempty"`
	Position  int          `json:"position,omitempty"`
	MessageID string       `json:"message_id,omitempty"`
	Result    room.Result  `json:"result,omitempty"`
	Who       string       `json:"who,omitempty"`
	Action    string       `json:"action,omitempty"`
	Reason    string       `json:"reason,omitempty"`
}

func detailOf(r room.Record) string {
	b, err := json.Marshal(detail{Outcome: r.Outcome, EndedAt: r.EndedAt, ExpiresAt: r.ExpiresAt, Since: r.Since,
		Position: r.Position, MessageID: plain(r.MessageID), Result: r.Result, Who: plain(r.Who), Action: plain(r.Action),
		Reason: plain(r.Reason)})
	if err != nil { // strings and integers always marshal
		return "{}"
	}
	return string(b)
}

func (w *work) record(e room.Entry, n int64, r room.Record) error {
	switch r.Type {
	case "epoch":
		return w.epoch(e.Epoch, r.At)
	case "joined":
		return w.joined(e.Epoch, r)
	case "granted":
		return w.granted(e.Epoch, r)
	case "extended":
		_, err := w.exec(`UPDATE leases SET expires_at = $1 WHERE room = $2 AND fence = $3`, r.ExpiresAt, string(w.id), r.Fence)
		return err
	case "ended":
		return w.ended(e.Epoch, r)
	case "message":
		return w.message(e.Epoch, r)
	case "action":
		_, err := w.exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, string(w.id), e.Epoch, e.ID, n, r.At, plain(r.Who),
			plain(r.Action), plain(r.Reason), r.Ticket, r.Fence)
		return err
	}
	return nil // away, back, moved, and what a later version may add: in the timeline
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
		if _, err := w.note(epoch, lostEntry, -r.At, former); err != nil {
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
