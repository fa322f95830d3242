package outbox

import (
	"errors"
	"time"
)

// LockTimeout is how long a claim lasts unless StoreConfig says otherwise: a lock that is older is taken over.
const LockTimeout = 30 * time.Second

// GiveUpAfter is how long a phase is tried, from its first claim, unless its Kind says otherwise.
const GiveUpAfter = 24 * time.Hour

// unlocked is the locked_at of a task that nobody holds: the start of 1970.
const unlocked = 0

var (
	// ErrNotHeld says that the claim is over: the task was taken over, given back or ended. What the caller wanted to write
	// about it is not written.
	ErrNotHeld = errors.New("task is not held by this claim")
	// ErrNotDead says that there is no dead task of this id.
	ErrNotDead = errors.New("no dead task of this id")
	// ErrInvalidTask says what is wrong with a task that can not be put in.
	ErrInvalidTask = errors.New("task is not valid")

	// ErrNotReady is what a phase returns, wrapped or bare, when what it waits for is not there yet: the task rests, see Backoff,
	// and that is no failure. It is given up like any other when it takes too long.
	ErrNotReady = errors.New("not ready")
	// ErrGiveUp is what a phase returns, wrapped, when trying again can not help: the task is dead at once.
	ErrGiveUp = errors.New("given up")
)
