package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
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

// Enqueue puts a task in, within the transaction that made it true: both happen or neither. The
// caller makes sure that no two transactions put in tasks of one lease key at the same time.
func Enqueue(ctx context.Context, tx Querier, d Dialect, t Task) error {
	_, err := tx.ExecContext(ctx, d.Bind(`
		INSERT INTO outbox_tasks (event_id, room, lease_key, seq, type, payload, phase, created_at, updated_at)
		SELECT $1, $2, $3, COALESCE(MAX(seq), 0) + 1, $4, $5, 'deliver', CAST($6 AS BIGINT), CAST($6 AS BIGINT)
		FROM outbox_tasks WHERE lease_key = $3`),
		"evt_"+uuid.NewString(), t.Room, t.LeaseKey, t.Type, t.Payload, t.CreatedAt)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", t.Type, err)
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
