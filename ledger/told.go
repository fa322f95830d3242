package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// Told writes into the timeline that the integration has an event. It is the outbox's Recorded.
func (l *Ledger) Told(ctx context.Context, t outbox.Task) error {
	var told payload
	if err := json.Unmarshal([]byte(t.Payload), &told); err != nil {
		return fmt.Errorf("read task %d: %w", t.ID, err)
	}
	return l.inRoom(ctx, room.ID(t.Room), func(w *work) error {
		_, err := w.Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
			VALUES ($1, COALESCE((SELECT epoch FROM leases WHERE room = $1 AND fence = $4), 0), $2, 0, $5, 'told', $3, $4, $6, $7)
			ON CONFLICT DO NOTHING`, t.Room, t.EventID, told.Data.Ticket, told.Data.Fence, t.UpdatedAt, told.Data.SellerID,
			detailOf(room.Record{Action: t.Type}))
		return err
	})
}
