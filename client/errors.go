package client

import (
	"errors"
	"fmt"
	"time"
)

// Problem is a refusal of the server: an RFC 9457 problem.
type Problem struct {
	Status     int           // of the HTTP answer
	Code       string        `json:"code"`   // stable, such as "seller_has_place"
	Detail     string        `json:"detail"` // for a person
	Reason     string        `json:"reason"` // why a token was refused, for a developer; "" = nothing to add
	RetryAfter time.Duration `json:"-"`      // when the same call may be answered otherwise; 0 = never
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("waitroom answered %d %s", p.Status, p.Code)
	for _, more := range []string{p.Reason, p.Detail} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// Ended reports that the place has ended, and how: "completed", "cancelled", "expired", "forced", "removed",
// "dropped" or "lost".
type Ended struct{ Outcome string }

func (e *Ended) Error() string { return "the turn is over: " + e.Outcome }

// ErrNoTurn reports that the session has no place: it never joined, or its place ended more than ten minutes
// ago.
var ErrNoTurn = errors.New("the session has no place")

// ErrNotYet reports that it is not the seller's turn yet: call Wait first.
var ErrNotYet = errors.New("the turn has not come yet")

// code returns the code of a Problem; "" for any other error.
func code(err error) string {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code
	}
	return ""
}
