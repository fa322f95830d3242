package sms

import "github.com/waitroom/waitroom/room"

// Answer is the response to the sender of an SMS.
type Answer struct {
	Result room.Result `json:"result"`
	Reason room.Reason `json:"reason,omitempty"` // when unmatched
	Ticket int64       `json:"ticket,omitempty"` // of its lease
	Fence  int64       `json:"fence,omitempty"`

	Duplicate bool `json:"duplicate,omitempty"` // same sender and text as an earlier message
}

func answerOf(m room.Match) Answer {
	if m.Result == room.Unmatched {
		return Answer{Result: m.Result, Reason: m.Reason, Duplicate: m.Duplicate}
	}
	return Answer{Result: m.Result, Ticket: m.Ticket, Fence: m.Fence, Duplicate: m.Duplicate}
}
