package outbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Handler does a task's current phase and returns the next one, or Done. After an error, the phase is retried
// after a rest, see Backoff. ErrNotReady does so without counting as a failure, and ErrGiveUp makes the task
// dead.
//
// A handler may run again for a phase that it has done, after a crash or if its end could not be written. It
// must heed ctx, which ends before the lock does: afterwards another worker may run the same phase.
type Handler func(ctx context.Context, t Task) (next Phase, err error)

// Phases maps each phase of a kind to its handler.
type Phases map[Phase]Handler

// Do is a Handler. It returns an error for an unknown phase, since a newer program may have it.
func (p Phases) Do(ctx context.Context, t Task) (Phase, error) {
	do := p[t.Phase]
	if do == nil {
		return "", fmt.Errorf("there is no phase %q of %s here", t.Phase, t.Kind)
	}
	return do(ctx, t)
}

// Kind configures how tasks of one kind are done. Zero fields but Do get the defaults.
type Kind struct {
	Do       Handler
	Parallel int           // tasks at a time in one worker, apart from other kinds; default 8
	Timeout  time.Duration // of a phase; default and at most five sixths of the lock's time-out: 25 s
	// from a phase's first claim until the task is dead; default GiveUpAfter, negative = never
	GiveUpAfter time.Duration
	Keep        time.Duration // how long done tasks stay in the table; default 7 days
	Close       func()        // called when Run ends, to release what Do uses; nil = nothing
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

// panicked is the error of a phase that panicked, so that one task does not end the process.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// do calls the handler with its time-out.
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
