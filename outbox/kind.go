package outbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Handler does the phase that a task is in and returns the next one: Done where it was the last. An error has the phase tried
// again after a rest, see Backoff; ErrNotReady does so without being a failure, and ErrGiveUp makes the task dead.
//
// It may be called again for a phase that it has done: after a crash, or where its end could not be written down. It must heed
// ctx, which ends before the lock does: afterwards another worker may be at the same phase.
type Handler func(ctx context.Context, t Task) (next Phase, err error)

// Phases is a Handler for each phase of a kind.
type Phases map[Phase]Handler

// Do is a Handler. A phase that is not there is an error, not the end: a newer program may have it.
func (p Phases) Do(ctx context.Context, t Task) (Phase, error) {
	do := p[t.Phase]
	if do == nil {
		return "", fmt.Errorf("there is no phase %q of %s here", t.Phase, t.Kind)
	}
	return do(ctx, t)
}

// Kind is how tasks of one kind are worked off. Zero fields but Do get the defaults.
type Kind struct {
	Do          Handler
	Parallel    int           // how many tasks a worker is at at a time; default 8. Kinds do not take each other's
	Timeout     time.Duration // how long a phase may take; default and at most five sixths of the lock's time-out: 25 s
	GiveUpAfter time.Duration // how long a phase is tried, from its first claim, until the task is dead; default GiveUpAfter, negative = for ever
	Keep        time.Duration // how long tasks that are done stay in the table; default 7 days
	Close       func()        // called when Run ends, to let go of what Do uses; nil = nothing
}

const (
	parallel = 8
	keepDone = 7 * 24 * time.Hour
)

func (k Kind) withDefaults(lock time.Duration) Kind {
	most := lock / 6 * 5
	if k.Timeout <= 0 || k.Timeout > most {
		k.Timeout = most
	}
	if k.Parallel <= 0 {
		k.Parallel = parallel
	}
	if k.GiveUpAfter == 0 {
		k.GiveUpAfter = GiveUpAfter
	}
	if k.Keep == 0 {
		k.Keep = keepDone
	}
	return k
}

// panicked is what a phase panicked with: an error like another, so that one task does not end the process.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// do calls the handler for as long as it may take.
func (k Kind) do(ctx context.Context, t Task) (next Phase, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = &panicked{value: r, stack: debug.Stack()}
		}
	}()
	return k.Do(ctx, t)
}
