package ledger

import (
	"context"
	"time"
)

// Status is the ledger's state. It is behind while the database is away or a journal waits.
type Status struct {
	Behind  bool
	Since   time.Time // zero when not behind
	Pending int       // journal entries that wait, as far as this replica knows
	Error   string    // without the database's password; "" when the database answers
}

// Status returns the ledger's state, for /readyz and support.
func (l *Ledger) Status() Status {
	away, err := l.db.State()
	pending, waiting := l.backlog.sum()
	s := Status{Pending: pending}
	if err != nil {
		s.Error = err.Error()
	}
	if !waiting.IsZero() && l.cfg.Now().Sub(waiting) > behindAfter {
		s.Behind, s.Since = true, waiting
	}
	if !away.IsZero() {
		s.Behind = true
		if s.Since.IsZero() || away.Before(s.Since) {
			s.Since = away
		}
	}
	return s
}

// behindAfter is how long a room's journal may wait before the ledger counts as behind.
const behindAfter = 3 * time.Second

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
