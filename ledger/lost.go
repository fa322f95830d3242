package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// lostEntry stands in the timeline for the journal entry that a lost place does not have.
const lostEntry = "lost"

// open is a place or lease without an outcome.
type open struct {
	epoch, ticket, fence int64
	seller               string
	granted, expires     int64
}

// epoch ends what earlier epochs of the room left open: the store that knew of it lost its data. What it kept goes on in this one.
func (w *work) epoch(current int64, r room.Record) error {
	epochs, err := w.openEpochs()
	if err != nil {
		return err
	}
	for _, kept := range r.Kept {
		if err := w.keep(current, kept, r.At); err != nil {
			return err
		}
	}
	for _, epoch := range epochs {
		if epoch == current {
			continue
		}
		if err := w.lose(epoch, r.At); err != nil {
			return err
		}
	}
	return nil
}

// latestPlace is the epoch of a seller's place of a ticket, and its outcome; "" = it is open. The plus keeps SQLite from walking all places
// of the room by their epochs, to be spared sorting one row; and so does asking for the outcome apart, which no index has.
func (w *work) latestPlace(seller string, ticket int64) (epoch int64, outcome room.Outcome, err error) {
	err = w.Row(`SELECT epoch FROM places WHERE room = $1 AND seller = $2 AND ticket = $3 ORDER BY +epoch DESC LIMIT 1`,
		string(w.id), plain(seller), ticket).Scan(&epoch)
	if err != nil {
		return 0, "", err
	}
	err = w.Row(`SELECT COALESCE(outcome, '') FROM places WHERE room = $1 AND epoch = $2 AND ticket = $3`, string(w.id), epoch, ticket).Scan(&outcome)
	return epoch, outcome, err
}

// keep has a place go on in another epoch; also one whose end is in the ledger: the store lost that end, and gives it another one.
func (w *work) keep(current int64, kept room.Kept, at int64) error {
	epoch, outcome, err := w.latestPlace(kept.Seller, kept.Ticket)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		var written int64
		written, err = w.Exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			string(w.id), current, kept.Ticket, plain(kept.Seller), at)
		w.tally.joined += int(written)
	case err == nil && epoch != current:
		if outcome != "" {
			w.tally.places.correct(outcome, goesOn)
		}
		_, err = w.Exec(`UPDATE places SET epoch = $3, outcome = NULL, ended_at = NULL, fence = NULL WHERE room = $1 AND epoch = $2 AND ticket = $4`,
			string(w.id), epoch, current, kept.Ticket)
	}
	return err
}

// openEpochs are the room's epochs with open places or leases.
func (w *work) openEpochs() (epochs []int64, err error) {
	err = w.Each(func(scan func(...any) error) error {
		var epoch int64
		err := scan(&epoch)
		epochs = append(epochs, epoch)
		return err
	}, `SELECT epoch FROM places WHERE room = $1 AND outcome IS NULL
		UNION SELECT epoch FROM leases WHERE room = $1 AND outcome IS NULL`, string(w.id))
	return epochs, err
}

// lose ends an epoch's open places and leases as lost.
func (w *work) lose(epoch, at int64) error {
	places, err := w.end(`UPDATE places SET outcome = 'lost', ended_at = $3 WHERE room = $1 AND epoch = $2 AND outcome IS NULL
		RETURNING epoch, ticket, fence, seller, NULL, NULL`, epoch, at)
	if err != nil {
		return err
	}
	w.tally.places.end(room.Lost, len(places))
	for _, p := range places {
		err := w.note(epoch, lostEntry, p.ticket, room.Record{Type: "ended", At: at, Ticket: p.ticket, Fence: p.fence,
			Seller: p.seller, Outcome: room.Lost, EndedAt: at})
		if err != nil {
			return err
		}
	}
	leases, err := w.end(`UPDATE leases SET outcome = 'lost', ended_at = $3 WHERE room = $1 AND epoch = $2 AND outcome IS NULL
		RETURNING epoch, ticket, fence, seller, granted_at, expires_at`, epoch, at)
	if err != nil {
		return err
	}
	w.tally.leases.end(room.Lost, len(leases))
	for _, l := range leases {
		ended, err := w.endOf(l.fence, at)
		if err != nil {
			return err
		}
		if ended < at {
			if _, err := w.Exec(`UPDATE leases SET ended_at = $3 WHERE room = $1 AND fence = $2`, string(w.id), l.fence, ended); err != nil {
				return err
			}
		}
		err = w.send("lock.ended", at, event{Ticket: l.ticket, Fence: l.fence, Seller: l.seller, Outcome: room.Lost,
			GrantedAt: l.granted, ExpiresAt: l.expires, EndedAt: ended})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *work) end(query string, epoch, at int64) (ended []open, err error) {
	err = w.Each(func(scan func(...any) error) error {
		var o open
		var fence, granted, expires sql.NullInt64
		err := scan(&o.epoch, &o.ticket, &fence, &o.seller, &granted, &expires)
		o.fence, o.granted, o.expires = fence.Int64, granted.Int64, expires.Int64
		ended = append(ended, o)
		return err
	}, query, string(w.id), epoch, at)
	return ended, err
}

// told writes down a place as somebody was told it, which the store lost since. What is known of it already stays, but for an outcome and a
// fence that nobody knew then.
func (w *work) told(r room.Record) error {
	if r.Ticket <= 0 || r.Of <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: told place without a ticket, epoch or outcome", errOdd)
	}
	if r.Outcome == room.Unclaimed { // of its lease alone
		return w.toldLease(r.Of, r)
	}
	epoch, err := w.toldPlace(r)
	if err != nil || r.Fence == 0 {
		return err
	}
	return w.toldLease(epoch, r)
}

// toldPlace finds the place or writes it, and returns the epoch that it is in by now.
func (w *work) toldPlace(r room.Record) (epoch int64, err error) {
	epoch, outcome, err := w.latestPlace(r.Seller, r.Ticket)
	if errors.Is(err, sql.ErrNoRows) {
		return r.Of, w.insertTold(r)
	}
	switch {
	case err != nil:
		return 0, err
	case outcome == "":
		w.tally.places.end(r.Outcome, 1)
	case outcome == room.Lost && r.Outcome != room.Lost:
		w.tally.places.correct(room.Lost, r.Outcome)
	}
	_, err = w.Exec(`UPDATE places SET outcome = $4, ended_at = $5, fence = COALESCE(fence, $6)
		WHERE room = $1 AND epoch = $2 AND ticket = $3 AND (outcome IS NULL OR (outcome = 'lost' AND ($4 <> 'lost' OR fence IS NULL)))`,
		string(w.id), epoch, r.Ticket, string(r.Outcome), r.EndedAt, orNull(r.Fence))
	return epoch, err
}

// insertTold writes a place that the ledger has never seen. Where somebody else has its ticket, the store lost writes and gave it out again.
func (w *work) insertTold(r room.Record) error {
	written, err := w.Exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		string(w.id), r.Of, r.Ticket, plain(r.Seller), orNull(r.JoinedAt), r.EndedAt, string(r.Outcome), orNull(r.Fence))
	if err != nil {
		return err
	}
	if written > 0 {
		w.tally.joined++
		w.tally.places.end(r.Outcome, 1)
		return nil
	}
	return w.incident(r.Of, alarm{kind: "ticket_reused", subject: fmt.Sprint(r.Of, "/", r.Ticket), ticket: r.Ticket,
		fence: r.At, detail: "a ticket was given out twice: the store lost writes", at: r.At, seller: r.Seller})
}

// toldLease writes a lease that the store lost, or how it ended.
func (w *work) toldLease(epoch int64, r room.Record) error {
	var outcome sql.NullString
	err := w.Row(`SELECT outcome FROM leases WHERE room = $1 AND fence = $2`, string(w.id), r.Fence).Scan(&outcome)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if r.EndedAt, err = w.endOf(r.Fence, r.EndedAt); err != nil {
		return err
	}
	if r.GrantedAt > 0 {
		_, err := w.Exec(`UPDATE leases SET ended_at = $3 WHERE room = $1 AND ended_at > $3
			AND fence = (SELECT MAX(fence) FROM leases WHERE room = $1 AND fence < $2)`, string(w.id), r.Fence, r.GrantedAt)
		if err != nil {
			return err
		}
	}
	e := event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: r.Outcome, GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt, EndedAt: r.EndedAt}
	switch {
	case known && outcome.Valid && (outcome.String != string(room.Lost) || r.Outcome == room.Lost):
		return nil
	case known:
		_, err = w.Exec(`UPDATE leases SET outcome = $3, ended_at = $4 WHERE room = $1 AND fence = $2`, string(w.id), r.Fence, string(r.Outcome), r.EndedAt)
		if outcome.Valid { // the integration was told that it is lost
			w.tally.leases.correct(room.Lost, r.Outcome)
			return err
		}
		w.tally.leases.end(r.Outcome, 1)
	default:
		w.tally.granted++
		w.tally.leases.end(r.Outcome, 1)
		_, err = w.Exec(`INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, string(w.id), r.Fence, epoch, r.Ticket, plain(r.Seller),
			orNull(r.GrantedAt), orNull(r.ExpiresAt), r.EndedAt, string(r.Outcome))
		if err == nil {
			err = w.send("lock.granted", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
		}
	}
	if err != nil {
		return err
	}
	return w.send("lock.ended", r.At, e)
}

// endOf is when a lease was over that is said to have ended at a time: before the next one began at the latest. Nobody saw the end of one that was lost.
func (w *work) endOf(fence, at int64) (int64, error) {
	var next sql.NullInt64
	err := w.Row(`SELECT granted_at FROM leases WHERE room = $1 AND fence > $2 ORDER BY fence LIMIT 1`, string(w.id), fence).Scan(&next)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if next.Valid {
		at = min(at, next.Int64)
	}
	return at, nil
}

// orNull is NULL for one that is not known.
func orNull(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: n != 0} }

// Known is what the ledger knows of a room whose data the store may have lost: the highest fence, the highest ticket of its latest epoch,
// whether a lease is open, and when the latest one was over. Of fences and tickets what was trimmed counts.
func (l *Ledger) Known(ctx context.Context, id room.ID) (found room.Recorded, err error) {
	err = l.reading(ctx, id, func(w *work) error {
		var open int
		err := w.Row(`SELECT COALESCE((SELECT MAX(fence) FROM leases WHERE room = $1), 0),
			CASE WHEN EXISTS (SELECT 1 FROM leases WHERE room = $1 AND outcome IS NULL) THEN 1 ELSE 0 END`, string(id)).Scan(&found.Fence, &open)
		if err != nil {
			return err
		}
		found.Open = open == 1
		err = w.Row(`SELECT COALESCE(ended_at, granted_at, 0) FROM leases WHERE room = $1 ORDER BY COALESCE(granted_at, ended_at, 0) DESC LIMIT 1`, string(id)).Scan(&found.Ended)
		if err != nil && !noRows(err) {
			return err
		}
		var epoch int64
		err = w.Row(`SELECT epoch, ticket FROM places WHERE room = $1 ORDER BY epoch DESC, ticket DESC LIMIT 1`, string(id)).Scan(&epoch, &found.Ticket)
		if err != nil && !noRows(err) {
			return err
		}
		h, _, err := w.highWater()
		found.Fence = max(found.Fence, h.fence)
		if h.epoch > epoch || h.epoch == epoch && h.ticket > found.Ticket {
			found.Ticket = h.ticket
		}
		return err
	})
	return found, err
}

// Ended is how those of some places ended that did, those that were lost left out.
func (l *Ledger) Ended(ctx context.Context, id room.ID, places []room.PlaceID) (ends []room.RecordedEnd, err error) {
	rows := dialect.NewRows(len(places), "epoch BIGINT", "ticket BIGINT")
	for _, p := range places {
		rows.Add(p.Epoch, p.Ticket)
	}
	err = l.reading(ctx, id, func(w *work) error {
		return w.EachRow(func(scan func(...any) error) error {
			var e room.RecordedEnd
			err := scan(&e.Epoch, &e.Ticket, &e.Seller, &e.Outcome, &e.Fence, &e.EndedAt)
			ends = append(ends, e)
			return err
		}, rows, `SELECT p.epoch, p.ticket, p.seller, p.outcome, COALESCE(p.fence, 0), p.ended_at
			FROM v JOIN places p ON p.room = $1 AND p.epoch = v.epoch AND p.ticket = v.ticket WHERE p.outcome <> 'lost'`, string(id))
	})
	return ends, err
}
