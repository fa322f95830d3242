package read

import (
	"context"
	"database/sql"
	"errors"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// Known returns the ledger's last state of a room whose data the store may have lost. It has the highest
// fence, the highest ticket of the latest epoch, whether a lease is open, and when the latest one ended, or
// was granted if it is open. Trimmed fences and tickets count.
func (r *Reader) Known(ctx context.Context, id wire.ID) (found wire.Recorded, err error) {
	err = r.reading(ctx, id, func(w *work) error {
		var open int
		err := w.Row(`SELECT COALESCE((SELECT MAX(fence) FROM leases WHERE room = $1), 0),
			CASE WHEN EXISTS (SELECT 1 FROM leases WHERE room = $1 AND outcome IS NULL) THEN 1 ELSE 0 END`,
			string(id)).Scan(&found.Fence, &open)
		if err != nil {
			return err
		}
		found.Open = open == 1
		err = w.Row(`SELECT COALESCE(ended_at, granted_at, 0) FROM leases WHERE room = $1
			ORDER BY COALESCE(granted_at, ended_at, 0) DESC LIMIT 1`, string(id)).Scan(&found.Ended)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var epoch int64
		err = w.Row(`SELECT epoch, ticket FROM places WHERE room = $1 ORDER BY epoch DESC, ticket DESC LIMIT 1`,
			string(id)).Scan(&epoch, &found.Ticket)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		h, _, err := schema.HighWaterOf(w.Session, w.id)
		found.Fence = max(found.Fence, h.Fence)
		if h.Epoch > epoch || h.Epoch == epoch && h.Ticket > found.Ticket {
			found.Ticket = h.Ticket
		}
		return err
	})
	return found, err
}

// Ended returns the ends of those places that ended, without lost ones.
func (r *Reader) Ended(ctx context.Context, id wire.ID, places []wire.PlaceID) (ends []wire.RecordedEnd,
	err error) {
	rows := dialect.NewRows(len(places), "epoch BIGINT", "ticket BIGINT")
	for _, p := range places {
		rows.Add(p.Epoch, p.Ticket)
	}
	err = r.reading(ctx, id, func(w *work) error {
		return w.EachRow(func(scan func(...any) error) error {
			var e wire.RecordedEnd
			err := scan(&e.Epoch, &e.Ticket, &e.Seller, &e.Outcome, &e.Fence, &e.EndedAt)
			ends = append(ends, e)
			return err
		}, rows, `SELECT p.epoch, p.ticket, p.seller, p.outcome, COALESCE(p.fence, 0), p.ended_at
			FROM v JOIN places p ON p.room = $1 AND p.epoch = v.epoch AND p.ticket = v.ticket
			WHERE p.outcome <> 'lost'`, string(id))
	})
	return ends, err
}
