package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// replay writes a place that a replica observed and the store lost since. Known values stay, except an
// outcome or fence that is missing or lost.
func (w *work) replay(n record) error {
	r := n.Record
	if r.Ticket <= 0 || r.Of <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: replayed place without a ticket, epoch or outcome", errMalformed)
	}
	if r.Outcome == room.Unclaimed { // the lease ended, the place did not
		return w.replayLease(r.Of, r)
	}
	epoch, err := w.replayPlace(r)
	if err != nil || r.Fence == 0 {
		return err
	}
	return w.replayLease(epoch, r)
}

// replayPlace finds or inserts the place, and returns the epoch that it is in now.
func (w *work) replayPlace(r room.Record) (epoch int64, err error) {
	epoch, outcome, err := w.latestPlace(r.Seller, r.Ticket)
	if errors.Is(err, sql.ErrNoRows) {
		return r.Of, w.insertReplayed(r)
	}
	switch {
	case err != nil:
		return 0, err
	case outcome == "":
		w.counts.places.end(r.Outcome, 1)
	case outcome == room.Lost && r.Outcome != room.Lost:
		w.counts.places.correct(room.Lost, r.Outcome)
	}
	_, err = w.Exec(`UPDATE places SET outcome = $4, ended_at = $5, fence = COALESCE(fence, $6)
		WHERE room = $1 AND epoch = $2 AND ticket = $3 AND (outcome IS NULL OR (outcome = 'lost' AND ($4 <> 'lost'
		OR fence IS NULL)))`,
		string(w.id), epoch, r.Ticket, string(r.Outcome), r.EndedAt, orNull(r.Fence))
	return epoch, err
}

// insertReplayed inserts a place that the ledger does not have. If another seller has its ticket, the store
// lost writes and issued the ticket twice.
func (w *work) insertReplayed(r room.Record) error {
	written, err := w.Exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		string(w.id), r.Of, r.Ticket, plain(r.Seller), orNull(r.JoinedAt), r.EndedAt, string(r.Outcome),
		orNull(r.Fence))
	if err != nil {
		return err
	}
	if written > 0 {
		w.counts.joined++
		w.counts.places.end(r.Outcome, 1)
		return nil
	}
	return w.addTicketReused(r.Of, r)
}

// replayLease writes a lease that the store lost, or its end, and sends its events. A lease that the ledger
// has as lost gets its real end; the integration keeps the end that it has.
func (w *work) replayLease(epoch int64, r room.Record) error {
	var before sql.NullString
	err := w.Row(`SELECT outcome FROM leases WHERE room = $1 AND fence = $2`, string(w.id),
		r.Fence).Scan(&before)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if r.EndedAt, err = w.endOf(r.Fence, r.EndedAt); err != nil {
		return err
	}
	if err := w.endBefore(r); err != nil {
		return err
	}
	switch {
	case !known:
		return w.insertLease(epoch, r)
	case !before.Valid:
		w.counts.leases.end(r.Outcome, 1)
		if err := w.updateEnd(r); err != nil {
			return err
		}
		return w.sendEnded(r)
	case before.String == string(room.Lost) && r.Outcome != room.Lost:
		w.counts.leases.correct(room.Lost, r.Outcome)
		return w.updateEnd(r)
	}
	return nil
}

// endBefore sets the end of the lease before a replayed one to the replayed one's start, if it was later.
func (w *work) endBefore(r room.Record) error {
	if r.GrantedAt <= 0 {
		return nil
	}
	_, err := w.Exec(`UPDATE leases SET ended_at = $3 WHERE room = $1 AND ended_at > $3
		AND fence = (SELECT MAX(fence) FROM leases WHERE room = $1 AND fence < $2)`,
		string(w.id), r.Fence, r.GrantedAt)
	return err
}

func (w *work) updateEnd(r room.Record) error {
	_, err := w.Exec(`UPDATE leases SET outcome = $3, ended_at = $4 WHERE room = $1 AND fence = $2`,
		string(w.id), r.Fence, string(r.Outcome), r.EndedAt)
	return err
}

func (w *work) insertLease(epoch int64, r room.Record) error {
	w.counts.granted++
	w.counts.leases.end(r.Outcome, 1)
	_, err := w.Exec(`INSERT INTO leases
		(room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		string(w.id), r.Fence, epoch, r.Ticket, plain(r.Seller), orNull(r.GrantedAt), orNull(r.ExpiresAt),
		r.EndedAt, string(r.Outcome))
	if err != nil {
		return err
	}
	if err := w.sendGranted(r); err != nil {
		return err
	}
	return w.sendEnded(r)
}
