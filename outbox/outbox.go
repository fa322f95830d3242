// Package outbox tells another program what happened: tasks in a database, worked off by whichever
// process ticks first.
//
// A task is claimed by one atomic update of its locked_at; a claim older than 30 seconds may be taken
// over, because whoever held it is dead. A task goes through phases, with its lock given back between
// them, so that a crash repeats one phase and not the whole. It waits by moving its locked_at, a tenth
// of the time waited so far. Tasks of one lease are worked off one after another.
//
//	deliver ──2xx──▶ record ──▶ done
//	   │  ▲
//	   │  └── retry (by support)
//	   └─24 h─▶ dead ──┘
//
// At least once: the receiver tells repeats apart by the webhook-id, which stays the task's own.
package outbox

import (
	"errors"
	"time"
)

// LockTimeout is how long a claim lasts. Whoever works on a task must be done before.
const LockTimeout = 30 * time.Second

// deadAfter is how long delivery is tried, from the first attempt.
const deadAfter = 24 * time.Hour

// unlocked is the locked_at of a task that nobody holds: the start of 1970.
const unlocked = 0

var (
	// ErrNotHeld says that the task was taken over, or is no longer in this phase: what the caller
	// wanted to write about it is not written.
	ErrNotHeld = errors.New("task is not held by this claim")
	// ErrNotDead says that there is no dead task of this id.
	ErrNotDead = errors.New("no dead task of this id")
)
