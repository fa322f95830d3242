package trim

import (
	"database/sql"
	"errors"

	"github.com/waitroom/waitroom/ledger/schema"
)

// raiseHighWater raises the mark above the rows to be trimmed. The database lets no verification go below it.
func (w *work) raiseHighWater(before int64, most int) error {
	was, found, err := schema.HighWaterOf(w.Session, w.id)
	if err != nil {
		return err
	}
	h := was
	if err := w.raiseFences(&h, before, most); err != nil {
		return err
	}
	if err := w.raiseTicket(&h, before, most); err != nil || h == was {
		return err
	}
	query := `INSERT INTO high_water (room, fence, epoch, ticket, settled, settled_until)
		VALUES ($1, $2, $3, $4, $5, $6)`
	if found {
		query = `UPDATE high_water SET fence = $2, epoch = $3, ticket = $4, settled = $5, settled_until = $6
			WHERE room = $1`
	}
	_, err = w.Exec(query, string(w.id), h.Fence, h.Epoch, h.Ticket, h.Settled, h.SettledUntil)
	return err
}

func (w *work) raiseFences(h *schema.HighWater, before int64, most int) error {
	var fence, settled, until sql.NullInt64
	err := w.Row(`SELECT MAX(fence) FROM (SELECT fence FROM leases WHERE room = $1
		AND COALESCE(granted_at, ended_at, 0) < $2
		ORDER BY COALESCE(granted_at, ended_at, 0) LIMIT $3) q`, string(w.id), before, most).Scan(&fence)
	if err != nil {
		return err
	}
	err = w.Row(`SELECT MAX(fence), MAX(ended_at) FROM (SELECT fence, ended_at FROM verifications
		WHERE room = $1 AND ended_at < $2
		ORDER BY ended_at LIMIT $3) q`, string(w.id), before, most).Scan(&settled, &until)
	h.Fence, h.Settled, h.SettledUntil = max(h.Fence, fence.Int64), max(h.Settled, settled.Int64),
		max(h.SettledUntil, until.Int64)
	return err
}

func (w *work) raiseTicket(h *schema.HighWater, before int64, most int) error {
	var epoch, ticket int64
	err := w.Row(`SELECT epoch, MAX(ticket) FROM (SELECT epoch, ticket FROM places WHERE room = $1
		AND ended_at IS NOT NULL AND ended_at < $2
		ORDER BY ended_at LIMIT $3) q GROUP BY epoch ORDER BY epoch DESC LIMIT 1`, string(w.id), before,
		most).Scan(&epoch, &ticket)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case epoch > h.Epoch:
		h.Epoch, h.Ticket = epoch, ticket
	case epoch == h.Epoch:
		h.Ticket = max(h.Ticket, ticket)
	}
	return err
}
