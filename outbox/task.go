package outbox

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Phase names the next thing to do with a task. A kind names its own phases; at most 64 characters.
type Phase string

const (
	// Start is the phase of a task that was put in without one.
	Start Phase = "start"
	// Done is the phase after the last one.
	Done Phase = "done"
	// Settled is returned by a phase that has called Store.UnlockTx itself.
	Settled Phase = "settled"
)

// State is a task's state.
type State string

// The states of a task.
const (
	Open     State = "open"
	Finished State = "done"
	Dead     State = "dead" // Store.Retry opens it again
)

// Task is one thing to do. Times are unix ms. UID, Kind, Key and Phase must not end with a space.
type Task struct {
	ID int64
	// unique and the same on every attempt, so that receivers can recognize repeats; at most 128 characters
	UID  string
	Kind string // see Config.Kinds; at most 64 characters
	// tasks with one key are done in the order they were put in; "" = in no order; at most 512 characters
	Key     string
	Payload string // for the kind; the library does not read it; valid UTF-8 without NUL

	State        State
	Phase        Phase
	LockedAt     int64 // when it was claimed, or such that its lock ends with its rest; 0 = unlocked
	WaitingSince int64 // when this phase was first claimed; 0 = not yet
	Attempts     int64 // claims so far, over all phases; grows with each, so that it can serve as a fence
	LastError    string
	CreatedAt    int64
	UpdatedAt    int64 // the oldest is claimed first

	// Traceparent is the W3C trace context of the change that caused the task. The task's phases are spans of
	// that trace (Config.Tracer). "" starts a trace. At most 64 characters.
	Traceparent string
}

const columns = `id, uid, kind, task_key, payload, state, phase, locked_at, COALESCE(waiting_since, 0),
	attempts, last_error, created_at, updated_at, traceparent`

type scanner interface{ Scan(dest ...any) error }

func scanTask(from scanner) (t Task, err error) {
	err = from.Scan(&t.ID, &t.UID, &t.Kind, &t.Key, &t.Payload, &t.State, &t.Phase, &t.LockedAt, &t.WaitingSince,
		&t.Attempts, &t.LastError,
		&t.CreatedAt, &t.UpdatedAt, &t.Traceparent)
	return t, err
}

func scanTasks(rows *sql.Rows) (tasks []Task, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		t, err := scanTask(rows)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, rows.Err()
}

// The longest texts that every database takes, in characters.
const (
	maxUID   = 128
	maxName  = 64 // of a kind and of a phase
	maxKey   = 512
	maxError = 2000
)

func (t Task) validate() error {
	for _, field := range []struct {
		name, text  string
		least, most int
	}{
		{"UID", t.UID, 1, maxUID}, {"Kind", t.Kind, 1, maxName}, {"Key", t.Key, 0, maxKey},
		{"Phase", string(t.Phase), 1, maxName},
		{"Payload", t.Payload, 0, len(t.Payload)}, {"Traceparent", t.Traceparent, 0, maxName},
	} {
		n := utf8.RuneCountInString(field.text)
		switch {
		case n < field.least:
			return fmt.Errorf("%w: no %s", ErrInvalidTask, field.name)
		case n > field.most:
			return fmt.Errorf("%w: %s is longer than %d characters", ErrInvalidTask, field.name, field.most)
		case field.name != "Payload" && strings.HasSuffix(field.text, " "):
			// MySQL ignores trailing spaces when it compares
			return fmt.Errorf("%w: %s ends with a space", ErrInvalidTask, field.name)
		case !utf8.ValidString(field.text) || strings.ContainsRune(field.text, 0):
			return fmt.Errorf("%w: %s is not UTF-8 without NUL", ErrInvalidTask, field.name)
		}
	}
	if t.Phase == Done || t.Phase == Settled {
		return fmt.Errorf("%w: no task begins in phase %s", ErrInvalidTask, t.Phase)
	}
	return nil
}

// plain returns an error's text as every database accepts it.
func plain(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "�")
	if utf8.RuneCountInString(text) > maxError {
		return string([]rune(text)[:maxError])
	}
	return text
}

// waited returns how long this phase has been tried, as of now in unix ms.
func (t Task) waited(now int64) time.Duration {
	return time.Duration(now-t.WaitingSince) * time.Millisecond
}
