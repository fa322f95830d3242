package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web"
)

// deliveries puts the outbox's tasks into the web's words.
type deliveries struct{ store *outbox.Store }

func (d deliveries) Dead(ctx context.Context) ([]templates.Delivery, error) {
	tasks, err := d.store.Dead(ctx)
	if err != nil {
		return nil, unread(err)
	}
	rows := make([]templates.Delivery, len(tasks))
	for i, t := range tasks {
		rows[i] = templates.Delivery{ID: t.ID, Key: t.LeaseKey, Type: t.Type, At: t.CreatedAt, GivenUp: t.UpdatedAt, LastError: t.LastError}
	}
	return rows, nil
}

func (d deliveries) Retry(ctx context.Context, id int64) error {
	err := d.store.Retry(ctx, id)
	if errors.Is(err, outbox.ErrNotDead) {
		return fmt.Errorf("%w: %w", web.Refusal("not_dead"), err)
	}
	return unread(err)
}

func (d deliveries) Count(ctx context.Context) (pending, dead int, err error) {
	c, err := d.store.Count(ctx)
	return c.Pending, c.Dead, unread(err)
}
