package server

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/outbox/webhook"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
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
