package room

import "context"

var assignVerb = newVerb[assignArgs]("assign")

type assignArgs struct {
	Fence     int64
	Digest    string // of the message
	ID        string // of the message, as JSON
	Completes bool   // a code in the message ends the lease
	Action    string // JSON members
	Why       string // the JSON members "who" and "reason"
}

// AssignRequest gives an unmatched message to a lease that could have caused it. Support sends it.
type AssignRequest struct {
	MessageID string
	Fence     int64
	Keep      bool   // the code does not end the lease
	Request   string // id of the request: a repeat returns what the first call returned
	By        Action
}

// Assign gives an unmatched message to one of its candidate leases.
//
// A candidate was live when the message was sent or had asked in the ten minutes before (see Candidate).
// For ten minutes after its arrival the message is shown to the lease's session, once the ledger has agreed
// (SettleMatch); after that the assignment is a record only. The carrier's repeat still gets the first
// answer.
//
// Errors: ErrNoMessage, ErrAlreadyMatched, ErrStaleFence (there is no such lease), ErrNotPossible, ErrStore.
func (e *Engine) Assign(ctx context.Context, id ID, q AssignRequest) (Match, error) {
	q.By.Action = "assign"
	why := members(struct {
		Who    string `json:"who"`
		Reason string `json:"reason"`
	}{q.By.Who, q.By.Reason})
	args := assignArgs{q.Fence, digest(q.MessageID), jsonText(q.MessageID), !q.Keep, q.By.reasons(), why}
	c := assignVerb.with(args).keptIn(requestKey(q.Request))
	var m Match
	err := e.index.listed(ctx, id, func(l listing) error {
		a, err := requireMatch(e.answer(ctx, c.begins(l), id))
		if err == nil {
			m = *a.Match
			m.Version = a.Version
		}
		return err
	})
	return m, err
}
