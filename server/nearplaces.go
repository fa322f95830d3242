package server

import (
	"context"
	"slices"
	"time"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/webhook"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/near"
	"github.com/waitroom/waitroom/web/reach"
)

// openNear makes the watch for places that are near; nil without WEBHOOK_NEAR.
func (s *Server) openNear() {
	if s.cfg.WebhookNear.Off() {
		return
	}
	s.reach = reach.New(s.store.Client, s.engine.Names())
	failures := newThrottledLog(s.recordLog, 10*time.Second)
	s.near = near.New(near.Config{Rooms: s.engine, Threshold: s.cfg.WebhookNear, Record: s.recordNear,
		Wanted: s.reach.Wanted,
		Failed: func(err error) { failures.failed("places that are near are not recorded yet", err) }})
}

// reachChosen checks a room whose seller has just chosen, since the seller's place may be near already.
func (s *Server) reachChosen(id room.ID) { s.near.Seen(id, room.View{}) }

// recordNear records places that are near, and makes the outbox send their events at once.
func (s *Server) recordNear(ctx context.Context, id room.ID, places []ledger.NearPlace) error {
	if err := s.ledger.RecordNear(ctx, id, places); err != nil {
		return err
	}
	s.outbox.Wake(webhook.Kind)
	return nil
}

// holdsStill reports whether an event is still true: a place that does not wait any more is not near. All
// other events are about the past.
func (s *Server) holdsStill(ctx context.Context, t outbox.Task) (bool, error) {
	id, p, about := ledger.NearPlaceOf(t)
	if !about {
		return true, nil
	}
	r, err := s.engine.Head(ctx, id, near.Most)
	if err != nil {
		return false, later(err)
	}
	return slices.ContainsFunc(r.Line, func(w room.Waiter) bool {
		return w.Ticket == p.Ticket && w.Seller == p.Seller
	}), nil
}
