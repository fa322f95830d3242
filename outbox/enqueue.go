package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Enqueue inserts tasks within the caller's transaction. They commit with the change that caused them, or not
// at all. Enqueue fills in an empty UID, Phase and CreatedAt. It skips a task whose UID exists already,
// without an error.
//
// Tasks of one key are done in their order here, and after those of transactions that committed before.
// Overlapping transactions have no order: a caller that needs one locks a common row first.
func Enqueue(ctx context.Context, tx Querier, d Dialect, tasks ...Task) error {
	if len(tasks) == 0 {
		return nil
	}
	tasks, err := complete(ctx, tx, d, tasks)
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	if d == MySQL {
		err = insertValues(ctx, tx, tasks)
	} else {
		err = insertRows(ctx, tx, d, tasks)
	}
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// complete fills in empty fields, and validates the tasks.
func complete(ctx context.Context, tx Querier, d Dialect, tasks []Task) ([]Task, error) {
	tasks = slices.Clone(tasks)
	var now int64
	for i := range tasks {
		t := &tasks[i]
		if t.UID == "" {
			t.UID = uuid.NewString()
		}
		if t.Phase == "" {
			t.Phase = Start
		}
		if t.CreatedAt == 0 && now == 0 {
			var err error
			if now, err = d.Now(ctx, tx); err != nil {
				return nil, fmt.Errorf("read clock: %w", err)
			}
		}
		if t.CreatedAt == 0 {
			t.CreatedAt = now
		}
		if err := t.validate(); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

func insertRows(ctx context.Context, tx Querier, d Dialect, tasks []Task) error {
	rows := dialect.NewRows(len(tasks), "i BIGINT", "uid TEXT", "kind TEXT", "task_key TEXT", "payload TEXT",
		"phase TEXT", "created_at BIGINT", "traceparent TEXT")
	for i, t := range tasks {
		rows.Add(int64(i), t.UID, t.Kind, t.Key, t.Payload, string(t.Phase), t.CreatedAt, t.Traceparent)
	}
	for query, args := range d.Each(rows, `
		INSERT INTO outbox_tasks (uid, kind, task_key, payload, phase, created_at, updated_at, traceparent)
		SELECT uid, kind, task_key, payload, phase, created_at, created_at, traceparent FROM v WHERE true
		ORDER BY i ON CONFLICT (uid) DO NOTHING`) {
		if _, err := exec(ctx, tx, d, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// valuesAtOnce keeps a MySQL statement well below the limits on arguments and bytes.
const valuesAtOnce = 100

func insertValues(ctx context.Context, tx Querier, tasks []Task) error {
	for some := range slices.Chunk(tasks, valuesAtOnce) {
		var args []any
		for _, t := range some {
			args = append(args, t.UID, t.Kind, t.Key, t.Payload, t.Phase, t.CreatedAt, t.CreatedAt, t.Traceparent)
		}
		places := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?, ?), ", len(some)), ", ")
		if _, err := tx.ExecContext(ctx, `INSERT INTO outbox_tasks (uid, kind, task_key, payload, phase,
			created_at, updated_at, traceparent)
			VALUES `+places+` ON DUPLICATE KEY UPDATE id = id`, args...); err != nil {
			return err
		}
	}
	return nil
}
