package room

import "context"

var leaveVerb = newVerb[leaveArgs]("leave")

type leaveArgs struct {
	Session string // thin.lua knows this one and Fence by their positions
	Fence   int64  // of the lease that is meant; 0 = whichever the session has, or none
	Outcome string // completed or cancelled
	Ticket  int64  // of the place that is meant; 0 = whichever the session has
}

// LeaveRequest asks to end a session's place.
type LeaveRequest struct {
	Request string  // id of this request: a repeat returns the first reply; "" = a new request
	Session string  // the session that leaves
	Outcome Outcome // Completed or Cancelled; a waiter's is always Cancelled
	Fence   int64   // refused unless this is the fence of the session's live lease; 0 = any
	Ticket  int64   // refused unless this is the ticket of the session's live place; 0 = any
}

// Leave ends the session's lease or its place in line, and returns the outcome in its standing.
//
// When a lease ends, the next waiter is granted in the same step. A lease that a message completed may be
// completed again for ten minutes, which changes nothing but sets Already.
//
// Errors: ErrNoPlace, ErrStaleFence, ErrStore.
func (e *Engine) Leave(ctx context.Context, id ID, q LeaveRequest) (Standing, error) {
	args := leaveArgs{q.Session, q.Fence, string(q.Outcome), q.Ticket}
	c := leaveVerb.with(args).keptIn(requestKey(q.Request))
	if e.thinLeave(q) {
		c.verb = "unlock"
	}
	a, err := e.answer(ctx, c, id)
	st := e.standingOf(id, &a)
	st.Already = a.Already
	e.stood(id, q.Session, st)
	return st, err
}
