package ledger

import (
	"database/sql"
	"errors"

	"github.com/waitroom/waitroom/room"
)

// lostEntry replaces the journal entry in the timeline of a lost place.
const lostEntry = "lost"

// openRow is a place or lease without an outcome.
type openRow struct {
	epoch, ticket, fence int64
	seller               string
	granted, expires     int64
}

// epoch ends the open rows of all other epochs as lost, since the store lost its data. Places that the store
// kept move to the current epoch.
func (w *work) epoch(n record) error {
	epochs, err := w.openEpochs()
	if err != nil {
		return err
	}
	for _, kept := range n.Kept {
		if err := w.carryOver(n.epoch, kept, n.At); err != nil {
			return err
		}
	}
	for _, epoch := range epochs {
		if epoch == n.epoch {
			continue
		}
		if err := w.endAsLost(epoch, n.At); err != nil {
			return err
		}
	}
	return nil
}

// latestPlace returns the latest epoch of a seller's place with a ticket, and its outcome; "" = open. The
// plus, and the second query, keep SQLite from scanning all places of the room by epoch.
func (w *work) latestPlace(seller string, ticket int64) (epoch int64, outcome room.Outcome, err error) {
	err = w.Row(`SELECT epoch FROM places WHERE room = $1 AND seller = $2 AND ticket = $3 ORDER BY +epoch DESC
		LIMIT 1`,
		string(w.id), plain(seller), ticket).Scan(&epoch)
	if err != nil {
		return 0, "", err
	}
	err = w.Row(`SELECT COALESCE(outcome, '') FROM places WHERE room = $1 AND epoch = $2 AND ticket = $3`,
		string(w.id), epoch, ticket).Scan(&outcome)
	return epoch, outcome, err
}

// carryOver moves a place to the current epoch. A place that has ended in the ledger is open again: the store
// lost that end, and will write another.
func (w *work) carryOver(current int64, kept room.Kept, at int64) error {
	epoch, outcome, err := w.latestPlace(kept.Seller, kept.Ticket)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		var written int64
		written, err = w.Exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			string(w.id), current, kept.Ticket, plain(kept.Seller), at)
		w.counts.joined += int(written)
	case err == nil && epoch != current:
		if outcome != "" {
			w.counts.places.correct(outcome, reopened)
		}
		_, err = w.Exec(`UPDATE places SET epoch = $3, outcome = NULL, ended_at = NULL, fence = NULL
			WHERE room = $1 AND epoch = $2 AND ticket = $4`,
			string(w.id), epoch, current, kept.Ticket)
	}
	return err
}

// openEpochs returns the room's epochs with open places or leases.
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

// endAsLost ends an epoch's open places and leases as lost.
func (w *work) endAsLost(epoch, at int64) error {
	if err := w.endPlacesAsLost(epoch, at); err != nil {
		return err
	}
	leases, err := w.end(`UPDATE leases SET outcome = 'lost', ended_at = $3
		WHERE room = $1 AND epoch = $2 AND outcome IS NULL
		RETURNING epoch, ticket, fence, seller, granted_at, expires_at`, epoch, at)
	if err != nil {
		return err
	}
	w.counts.leases.end(room.Lost, len(leases))
	for _, l := range leases {
		if err := w.endLeaseAsLost(l, at); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) endPlacesAsLost(epoch, at int64) error {
	places, err := w.end(`UPDATE places SET outcome = 'lost', ended_at = $3
		WHERE room = $1 AND epoch = $2 AND outcome IS NULL
		RETURNING epoch, ticket, fence, seller, NULL, NULL`, epoch, at)
	if err != nil {
		return err
	}
	w.counts.places.end(room.Lost, len(places))
	for _, p := range places {
		err := w.addTimeline(epoch, lostEntry, p.ticket, room.Record{Type: "ended", At: at, Ticket: p.ticket,
			Fence: p.fence, Seller: p.seller, Outcome: room.Lost, EndedAt: at})
		if err != nil {
			return err
		}
	}
	return nil
}

// endLeaseAsLost corrects the end of a lost lease, and sends its event.
func (w *work) endLeaseAsLost(l openRow, at int64) error {
	ended, err := w.endOf(l.fence, at)
	if err == nil && ended < at {
		_, err = w.Exec(`UPDATE leases SET ended_at = $3 WHERE room = $1 AND fence = $2`,
			string(w.id), l.fence, ended)
	}
	if err != nil {
		return err
	}
	return w.sendWebhook("lock.ended", at, webhookEvent{Ticket: l.ticket, Fence: l.fence, Seller: l.seller,
		Outcome: room.Lost, GrantedAt: l.granted, ExpiresAt: l.expires, EndedAt: ended})
}

// end runs an update, and returns the rows that it ended.
func (w *work) end(query string, epoch, at int64) (ended []openRow, err error) {
	err = w.Each(func(scan func(...any) error) error {
		var o openRow
		var fence, granted, expires sql.NullInt64
		err := scan(&o.epoch, &o.ticket, &fence, &o.seller, &granted, &expires)
		o.fence, o.granted, o.expires = fence.Int64, granted.Int64, expires.Int64
		ended = append(ended, o)
		return err
	}, query, string(w.id), epoch, at)
	return ended, err
}

// endOf returns `at` as the end of a lease, or when the room's next lease began if that was earlier. The real
// end of a lost lease is not known.
func (w *work) endOf(fence, at int64) (int64, error) {
	var next sql.NullInt64
	err := w.Row(`SELECT granted_at FROM leases WHERE room = $1 AND fence > $2 ORDER BY fence LIMIT 1`,
		string(w.id), fence).Scan(&next)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if next.Valid {
		at = min(at, next.Int64)
	}
	return at, nil
}

// orNull returns NULL for 0, which stands for not known.
func orNull(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: n != 0} }
