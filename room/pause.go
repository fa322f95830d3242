package room

import "context"

var pauseVerb = newVerb[pauseArgs]("pause")

type pauseArgs struct {
	Paused     bool
	Action     string // JSON members; "" = nobody is named
	Registered int64
	Begins     string // the blank that a room may be begun in place of; "" = none
}

// Action is what a member of support did, for the journal.
type Action struct {
	Who    string `json:"who"`
	Action string `json:"action"`
	Reason string `json:"reason"`
	Ticket int64  `json:"ticket,omitempty"`
	Fence  int64  `json:"fence,omitempty"`

	Seconds int64 `json:"seconds,omitempty"` // how much more time was given; Extend sets it
}

// Pause stops or resumes granting: while a room is paused its line keeps its order and nobody is
// granted; the live lease goes on. Repeating it changes nothing.
func (e *Engine) Pause(ctx context.Context, id ID, request string, paused bool, by Action) (Standing, error) {
	once := requestKey(request)
	var st Standing
	err := e.index.listed(ctx, id, func(l listing) (err error) {
		st, err = e.standing(ctx, pauseVerb.with(pauseArgs{paused, by.reasons(), l.at, l.absence}), id, once)
		return err
	})
	return st, err
}
