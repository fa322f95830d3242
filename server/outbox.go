package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/outbox/webhook"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/near"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reach"
)

// kinds maps the outbox's task names to their handlers: a further kind is a further entry.
func (s *Server) kinds() (map[string]outbox.Kind, error) {
	kinds := make(map[string]outbox.Kind)
	if s.cfg.WebhookURL != "" {
		hook, err := webhook.New(webhook.Config{URL: string(s.cfg.WebhookURL), Secret: string(s.cfg.WebhookSecret),
			Holds: s.holdsStill, Recorded: s.ledger.WebhookDelivered})
		if err != nil {
			return nil, fmt.Errorf("WAITROOM_%w", err)
		}
		s.warnOfShort("WAITROOM_WEBHOOK_SECRET", s.cfg.WebhookSecret)
		kinds[webhook.Kind] = hook
	}
	if s.pushes != nil {
		maps.Copy(kinds, push.Kinds(s.notifyBrowser))
	}
	return kinds, nil
}

// deliveries adapts the outbox to package support.
type deliveries struct{ store *outbox.Store }

func (d deliveries) Dead(ctx context.Context) ([]templates.Delivery, error) {
	tasks, err := d.store.Dead(ctx, webhook.Kind)
	if err != nil {
		return nil, unread(err)
	}
	rows := make([]templates.Delivery, len(tasks))
	for i, t := range tasks {
		rows[i] = templates.Delivery{ID: t.ID, Key: t.Key, Type: webhook.TypeOf(t), At: t.CreatedAt,
			GivenUp: t.UpdatedAt, LastError: t.LastError}
	}
	return rows, nil
}

func (d deliveries) Retry(ctx context.Context, id int64) error {
	err := d.store.Retry(ctx, id)
	if errors.Is(err, outbox.ErrNotDead) {
		return fmt.Errorf("%w: %w", problem.Refusal("not_dead"), err)
	}
	return unread(err)
}

func (d deliveries) RetryAll(ctx context.Context) (int64, error) {
	n, err := d.store.RetryAll(ctx, webhook.Kind)
	return n, unread(err)
}

func (d deliveries) Failing(ctx context.Context) (since int64, lastError string, err error) {
	f, err := d.store.Failing(ctx, webhook.Kind)
	return f.Since, f.Error, unread(err)
}

func (d deliveries) Count(ctx context.Context) (pending, dead int, err error) {
	c, err := d.store.Count(ctx, webhook.Kind)
	return c.Pending, c.Dead, unread(err)
}

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
