package room

import "context"

var pauseVerb = newVerb[pauseArgs]("pause")

type pauseArgs struct {
	Paused bool
	Action string // JSON members; "" = support has not acted
}

// Action is an action of a member of support, for the journal.
type Action struct {
	Who    string `json:"who"`
	Action string `json:"action"`
	Reason string `json:"reason"`
	Ticket int64  `json:"ticket,omitempty"`
	Fence  int64  `json:"fence,omitempty"`

	Address string `json:"address,omitempty"` // from which support acted; "" = none
	Seconds int64  `json:"seconds,omitempty"` // of an extension; Extend sets it
	Text    string `json:"text,omitempty"`    // of an announcement
	Until   int64  `json:"until,omitempty"`   // when the action's effect ends, in unix ms; 0 = not at a time
	Seller  string `json:"seller,omitempty"`  // for Audit alone: the seller that it concerns
}

// Pause stops or resumes granting, and returns the standing of a spectator.
//
// While a room is paused its line keeps its order, no waiter is granted, and the live lease goes on. A repeat
// changes nothing. Error: ErrStore.
func (e *Engine) Pause(ctx context.Context, id ID, request string, paused bool, by Action) (Standing, error) {
	return e.listed(ctx, id, pauseVerb.with(pauseArgs{paused, by.reasons()}).keptIn(requestKey(request)))
}
