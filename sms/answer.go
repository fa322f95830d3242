package sms

import "github.com/waitroom/waitroom/room"

// Answer is what the sender of an SMS is told.
type Answer struct {
	Result room.Result `json:"result"`
	Reason room.Reason `json:"reason,omitempty"` // when unmatched
	Ticket int64       `json:"ticket,omitempty"` // of the lease it belongs to
	Fence  int64       `json:"fence,omitempty"`

	Duplicate bool `json:"duplicate,omitempty"` // the same sender and text as a message before
}

func answerOf(m room.Match) Answer {
	if m.Result == room.Unmatched {
		return Answer{Result: m.Result, Reason: m.Reason, Duplicate: m.Duplicate}
	}
	return Answer{Result: m.Result, Ticket: m.Ticket, Fence: m.Fence, Duplicate: m.Duplicate}
}
