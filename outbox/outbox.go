package outbox

import (
	"errors"
	"time"
)

// LockTimeout is how long a claim lasts unless StoreConfig sets another time. An older lock may be taken
// over.
const LockTimeout = 30 * time.Second

// GiveUpAfter is how long a phase is tried from its first claim, unless its Kind sets another time.
const GiveUpAfter = 24 * time.Hour

// unlocked is the locked_at of a task without a lock: the start of 1970.
const unlocked = 0

var (
	// ErrNotHeld is returned when the claim is over: the task was taken over, released or ended. The caller's
	// change to it is not written.
	ErrNotHeld = errors.New("task is not held by this claim")
	// ErrNotDead is returned when no dead task has this id.
	ErrNotDead = errors.New("no dead task of this id")
	// ErrInvalidTask is wrapped by errors about a task that Enqueue refuses.
	ErrInvalidTask = errors.New("task is not valid")

	// ErrNotReady is returned, wrapped or bare, by a phase that waits for something. The task rests, see
	// Backoff, which is no failure. A phase that returns itself does the same. It becomes dead like any other
	// when it takes too long.
	ErrNotReady = errors.New("not ready")
	// ErrGiveUp is returned, wrapped, by a phase that no retry can help. The task is dead at once.
	ErrGiveUp = errors.New("given up")
)
