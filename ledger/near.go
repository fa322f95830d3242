package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

const placeNear = "place.near"

// NearPlace is a waiter whose turn is near. Times are unix ms.
type NearPlace struct {
	Ticket   int64
	Seller   string
	JoinedAt int64
	Position int    // from 1 = next
	Wait     *int64 // estimated wait in whole seconds, rounded up; nil = not known, as while the room is paused
	At       int64  // when the place was found to be near
}

// RecordNear writes into the timeline that places are near, and sends place.near for those that were not near
// before: once a place, over all replicas and epochs. Errors: sqldb.ErrAway, or the database's.
func (l *Ledger) RecordNear(ctx context.Context, id room.ID, places []NearPlace) error {
	return l.inRoom(ctx, id, func(w *work) error {
		for _, p := range places {
			if err := w.near(p); err != nil {
				return fmt.Errorf("near: %w", err)
			}
		}
		return nil
	})
}

// near adds a place's row and task unless the row is there. A place keeps its ticket and the time of joining
// when a loss of data begins a new epoch, so both name the row, whose epoch is 0.
func (w *work) near(p NearPlace) error {
	added, err := w.Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
		VALUES ($1, 0, $2, $3, $4, 'near', $3, 0, $5, $6) ON CONFLICT DO NOTHING`,
		string(w.id), fmt.Sprintf("near/%d", p.JoinedAt), p.Ticket, p.At, schema.Plain(p.Seller),
		schema.DetailOf(room.Record{Position: p.Position}))
	if err != nil || added == 0 {
		return err
	}
	return w.sendWebhook(placeNear, p.At, webhookEvent{Ticket: p.Ticket, Seller: p.Seller,
		JoinedAt: p.JoinedAt, Position: p.Position, Wait: p.Wait})
}

// NearPlaceOf returns the room of an event place.near, with its ticket and seller; false for another event.
func NearPlaceOf(t outbox.Task) (id room.ID, p NearPlace, ok bool) {
	var sent webhookPayload
	if json.Unmarshal([]byte(t.Payload), &sent) != nil || sent.Type != placeNear {
		return "", NearPlace{}, false
	}
	return room.ID(sent.Data.Room), NearPlace{Ticket: sent.Data.Ticket, Seller: sent.Data.SellerID}, true
}
