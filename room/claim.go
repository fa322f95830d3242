package room

import "context"

var claimVerb = newVerb[claimArgs]("claim")

type claimArgs struct {
	Session string
	Fence   int64 // of the lease that is meant; 0 = whichever the session has, or none
	Ticket  int64 // of the place that is meant; 0 = whichever the session has
}

// ClaimRequest confirms that the seller of a session is there (rule 11 of docs/contract.md).
type ClaimRequest struct {
	Request string // id of this request: a repeat returns the first reply; "" = a new request
	Session string
	Fence   int64 // refused unless this is the fence of the session's live lease; 0 = any
	Ticket  int64 // refused unless this is the ticket of the session's live place; 0 = any
}

// ClaimTurn confirms that the seller of a session is there; an open socket alone does not confirm it.
//
// A holder's lease is claimed. A waiter whose lease ended as unclaimed is back in line, or is granted the
// lock if it is free. Any other place stays as it is. See rule 11 of docs/contract.md.
//
// Errors: ErrNoPlace, ErrStaleFence, ErrStore.
func (e *Engine) ClaimTurn(ctx context.Context, id ID, q ClaimRequest) (Standing, error) {
	st, err := e.standing(ctx, claimVerb.with(claimArgs{q.Session, q.Fence, q.Ticket}).
		keptIn(requestKey(q.Request)), id)
	e.stood(id, q.Session, st)
	return st, err
}
