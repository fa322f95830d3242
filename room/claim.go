package room

import "context"

var claimVerb = newVerb[claimArgs]("claim")

type claimArgs struct {
	Session string
	Fence   int64 // 0 = whichever it holds, or none
	Ticket  int64 // 0 = whichever place it has
}

// ClaimRequest says that a session is there.
type ClaimRequest struct {
	Request string // id of this request: a repeat is told the same; "" = a new one
	Session string
	Fence   int64 // refuse unless this is the session's own live lease; 0 = whichever it holds
	Ticket  int64 // refuse unless this is the session's live place; 0 = whichever it has
}

// ClaimTurn says that a session is there, which a browser's open socket does not: the holder's lease is claimed, and who did not claim its turn in time is back in
// line, or has the lock where it is free. To everybody else who has a place nothing happens.
// Refusals: ErrNoPlace, ErrStaleFence.
func (e *Engine) ClaimTurn(ctx context.Context, id ID, q ClaimRequest) (Standing, error) {
	st, err := e.standing(ctx, claimVerb.with(claimArgs{q.Session, q.Fence, q.Ticket}), id, requestKey(q.Request))
	e.stood(id, q.Session, st)
	return st, err
}
