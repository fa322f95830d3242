package ledger

import (
	"database/sql"
	"errors"

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

// keep has a place go on in another epoch; also one whose end is in the ledger: the store lost that end, and gives it another one.
func (w *work) keep(current int64, kept room.Kept, at int64) error {
	var epoch int64
	err := w.Row(`SELECT epoch FROM places WHERE room = $1 AND seller = $2 AND ticket = $3 ORDER BY epoch DESC LIMIT 1`,
		string(w.id), plain(kept.Seller), kept.Ticket).Scan(&epoch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = w.Exec(`INSERT INTO places (room, epoch, ticket, seller, joined_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			string(w.id), current, kept.Ticket, plain(kept.Seller), at)
	case err == nil && epoch != current:
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
