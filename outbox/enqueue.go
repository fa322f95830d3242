package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Enqueue puts tasks in within the caller's transaction: what they follow from and they themselves happen together or not at all. UID, Phase
// and CreatedAt are filled in where they are empty. A task whose UID is there already is not put in again, which is no error.
//
// Tasks of one key are worked off in their order here, and after those of transactions that committed before. Between transactions that overlap there
// is no order: where it matters the caller locks something they have in common first.
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

// complete fills in what was left out, and checks it all.
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
	rows := dialect.NewRows(len(tasks), "i BIGINT", "uid TEXT", "kind TEXT", "task_key TEXT", "payload TEXT", "phase TEXT", "created_at BIGINT", "traceparent TEXT")
	for i, t := range tasks {
		rows.Add(int64(i), t.UID, t.Kind, t.Key, t.Payload, string(t.Phase), t.CreatedAt, t.Traceparent)
	}
	for query, args := range d.Each(rows, `
		INSERT INTO outbox_tasks (uid, kind, task_key, payload, phase, created_at, updated_at, traceparent)
		SELECT uid, kind, task_key, payload, phase, created_at, created_at, traceparent FROM v WHERE true ORDER BY i ON CONFLICT (uid) DO NOTHING`) {
		if _, err := exec(ctx, tx, d, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// valuesAtOnce keeps a statement of MySQL's well below the arguments and bytes that it may have.
const valuesAtOnce = 100

func insertValues(ctx context.Context, tx Querier, tasks []Task) error {
	for some := range slices.Chunk(tasks, valuesAtOnce) {
		var args []any
		for _, t := range some {
			args = append(args, t.UID, t.Kind, t.Key, t.Payload, t.Phase, t.CreatedAt, t.CreatedAt, t.Traceparent)
		}
		places := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?, ?), ", len(some)), ", ")
		if _, err := tx.ExecContext(ctx, `INSERT INTO outbox_tasks (uid, kind, task_key, payload, phase, created_at, updated_at, traceparent)
			VALUES `+places+` ON DUPLICATE KEY UPDATE id = id`, args...); err != nil {
			return err
		}
	}
	return nil
}
