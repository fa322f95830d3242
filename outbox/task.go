package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Phase is what is to be done with a task next.
type Phase string

// The phases, in their order; Done and Dead are over.
const (
	Deliver Phase = "deliver" // post it to the receiver
	Record  Phase = "record"  // the receiver has it: say so in our own books
	Done    Phase = "done"
	Dead    Phase = "dead" // given up after 24 hours; support may retry it
)

// Task is one thing to tell.
type Task struct {
	ID       int64
	EventID  string // the webhook-id: the same on every attempt
	Room     string
	LeaseKey string // tasks with the same key are worked off in the order they were put in
	Seq      int64  // from 1 within the key
	Type     string // lock.granted, lock.ended, sms.matched, incident
	Payload  string // the JSON that is sent; holds no secret

	Phase        Phase
	LockedAt     int64 // unix ms, as are all times; 0 = nobody holds it
	WaitingSince int64 // when this phase was first claimed; 0 = not yet
	Attempts     int64 // claims so far
	LastError    string
	CreatedAt    int64
	UpdatedAt    int64
}

// Enqueue puts tasks in by one statement, within the transaction that made them true: all of it happens or nothing. Those of one
// lease key are worked off in their order here. The caller makes sure that no two transactions put in tasks of one lease key at
// the same time.
func Enqueue(ctx context.Context, tx Querier, d Dialect, tasks ...Task) error {
	if len(tasks) == 0 {
		return nil
	}
	rows := make([][]any, len(tasks))
	for i, t := range tasks {
		rows[i] = []any{i, "evt_" + uuid.NewString(), t.Room, t.LeaseKey, t.Type, t.Payload, t.CreatedAt}
	}
	list, err := dialect.EncodeRows(rows)
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	_, err = tx.ExecContext(ctx, d.Bind(`
		INSERT INTO outbox_tasks (event_id, room, lease_key, seq, type, payload, phase, created_at, updated_at)
		SELECT q.event_id, q.room, q.lease_key, COALESCE((SELECT MAX(t.seq) FROM outbox_tasks t WHERE t.lease_key = q.lease_key), 0)
			+ ROW_NUMBER() OVER (PARTITION BY q.lease_key ORDER BY q.i), q.type, q.payload, 'deliver', q.at, q.at
		FROM (SELECT CAST(value->>0 AS BIGINT) AS i, value->>1 AS event_id, value->>2 AS room, value->>3 AS lease_key, value->>4 AS type,
			value->>5 AS payload, CAST(value->>6 AS BIGINT) AS at FROM `+d.Rows("$1")+`) q
		ORDER BY q.i`), list)
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

const columns = `id, event_id, room, lease_key, seq, type, payload, phase, locked_at, COALESCE(waiting_since, 0),
	attempts, last_error, created_at, updated_at`

type scanner interface{ Scan(dest ...any) error }

func scanTask(row scanner) (Task, error) {
	var t Task
	err := row.Scan(&t.ID, &t.EventID, &t.Room, &t.LeaseKey, &t.Seq, &t.Type, &t.Payload, &t.Phase, &t.LockedAt,
		&t.WaitingSince, &t.Attempts, &t.LastError, &t.CreatedAt, &t.UpdatedAt)
	return t, err
}
