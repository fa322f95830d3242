package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// TimelineRow is one thing that happened to a seller: joined, away, back, moved, granted, extended,
// ended, asked, message, claimed, rejected, incident, told (the integration was). Detail is a JSON object; no text
// of an SMS is in it.
type TimelineRow struct {
	At, Epoch, Ticket, Fence int64
	Kind                     string
	Detail                   json.RawMessage
}

// Timeline reads what happened to a seller in a room, oldest first: from From, at most Limit rows.
func (l *Ledger) Timeline(ctx context.Context, id room.ID, f Filter) (rows []TimelineRow, err error) {
	if f.Limit <= 0 || f.Limit > maxLimit {
		f.Limit = maxLimit
	}
	err = l.guard(ctx, func() error {
		w := &work{Querier: l.db, ctx: ctx, dialect: l.dialect, id: id}
		return w.each(func(scan func(...any) error) error {
			var r TimelineRow
			var detail string
			err := scan(&r.At, &r.Epoch, &r.Ticket, &r.Fence, &r.Kind, &detail)
			r.Detail = json.RawMessage(detail)
			rows = append(rows, r)
			return err
		}, `SELECT at, epoch, ticket, fence, kind, detail FROM timeline WHERE room = $1 AND seller = $2 AND at >= $3
			ORDER BY at, epoch, entry, n LIMIT $4`, string(id), f.Seller, f.From, f.Limit)
	})
	if err != nil {
		return nil, fmt.Errorf("timeline: %w", l.clean(err))
	}
	return rows, nil
}
