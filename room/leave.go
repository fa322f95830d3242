package room

import (
	"context"
	"slices"
)

var leaveVerb = newVerb[leaveArgs]("leave")

type leaveArgs struct {
	Session string
	Outcome string // completed or cancelled
	Fence   int64  // 0 = whichever it holds
	Ticket  int64  // 0 = whichever place it has
}

// LeaveRequest ends a place.
type LeaveRequest struct {
	Request string  // id of this request: a repeat is told the same; "" = a new one
	Session string  // whose place
	Outcome Outcome // Completed or Cancelled; a waiter's is always Cancelled
	Fence   int64   // refuse unless this is the session's own live lease; 0 = whichever it holds
	Ticket  int64   // refuse unless this is the session's live place; 0 = whichever it has
}

// Leave ends the session's lease, and the next in line has the lock in the same step; or it takes
// the session out of the line. The standing tells the outcome; a lease that a message has completed within ten
// minutes may be completed once more, which changes nothing.
// Refusals: ErrNoPlace, ErrStaleFence.
func (e *Engine) Leave(ctx context.Context, id ID, q LeaveRequest) (Standing, error) {
	a, err := e.answer(ctx, leaveVerb.with(leaveArgs{q.Session, string(q.Outcome), q.Fence, q.Ticket}), id, []string{requestKey(q.Request)})
	st := a.standing
	st.Already = err == nil && slices.Contains(a.rest, "already")
	e.stood(id, q.Session, st)
	return st, err
}
