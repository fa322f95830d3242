package outbox

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Phase is what is to be done with a task next. A kind names its own; at most 64 characters.
type Phase string

const (
	// Start is where a task begins that was put in without a phase.
	Start Phase = "start"
	// Done is the phase after the last one: nothing is left to do.
	Done Phase = "done"
	// Settled is returned by a phase that has called Store.UnlockTx itself.
	Settled Phase = "settled"
)

// State is whether anything is left to do with a task.
type State string

// The states of a task.
const (
	Open     State = "open"
	Finished State = "done"
	Dead     State = "dead" // given up; Store.Retry puts it back
)

// Task is one thing to do. Times are unix ms. UID, Kind, Key and Phase do not end with a space.
type Task struct {
	ID      int64
	UID     string // names the task for good, also to others: the same on every attempt, so that repeats can be told. At most 128 characters
	Kind    string // whose it is, see Config.Kinds; at most 64 characters
	Key     string // tasks with the same key are worked off in the order they were put in; "" = in no order. At most 512 characters
	Payload string // what the kind needs to know; the library does not read it. Valid UTF-8 without NUL

	State        State
	Phase        Phase
	LockedAt     int64 // when it was claimed; 0 = nobody holds it
	WaitingSince int64 // when this phase was first claimed; 0 = not yet
	Attempts     int64 // claims so far, over all phases: it grows with each, so that it can serve as a fence
	LastError    string
	CreatedAt    int64
	UpdatedAt    int64 // the oldest is claimed first

	// Traceparent is the W3C trace context of what it follows from: its phases are spans of that trace (Config.Tracer). "" = of one that begins here. At most 64 characters.
	Traceparent string
}

const columns = `id, uid, kind, task_key, payload, state, phase, locked_at, COALESCE(waiting_since, 0), attempts, last_error, created_at, updated_at, traceparent`

type scanner interface{ Scan(dest ...any) error }

func scanTask(from scanner) (t Task, err error) {
	err = from.Scan(&t.ID, &t.UID, &t.Kind, &t.Key, &t.Payload, &t.State, &t.Phase, &t.LockedAt, &t.WaitingSince, &t.Attempts, &t.LastError,
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

// The longest that every database takes, in characters.
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
		{"UID", t.UID, 1, maxUID}, {"Kind", t.Kind, 1, maxName}, {"Key", t.Key, 0, maxKey}, {"Phase", string(t.Phase), 1, maxName},
		{"Payload", t.Payload, 0, len(t.Payload)}, {"Traceparent", t.Traceparent, 0, maxName},
	} {
		n := utf8.RuneCountInString(field.text)
		switch {
		case n < field.least:
			return fmt.Errorf("%w: no %s", ErrInvalidTask, field.name)
		case n > field.most:
			return fmt.Errorf("%w: %s is longer than %d characters", ErrInvalidTask, field.name, field.most)
		case field.name != "Payload" && strings.HasSuffix(field.text, " "): // which MySQL does not compare
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

// plain is an error's text as every database takes it.
func plain(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "�")
	if utf8.RuneCountInString(text) > maxError {
		return string([]rune(text)[:maxError])
	}
	return text
}

// waited is how long this phase has been tried, as of now in unix ms.
func (t Task) waited(now int64) time.Duration {
	return time.Duration(now-t.WaitingSince) * time.Millisecond
}
