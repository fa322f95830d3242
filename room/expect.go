package room

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

var (
	expectVerb = newVerb[expectArgs]("expect")
	rejectVerb = newVerb[rejectArgs]("reject")
)

type expectArgs struct {
	Session   string
	Fence     int64
	Filter    string // sealed; "" = any message
	Digest    string // of the message that is claimed; "" = the holder asks now
	ID        string // of the message, as JSON
	Completes bool   // a code ends the lease
	Most      int    // most asks that a lease may have
	Body      string // digest of the request, kept with the answer; "" = the answer is not kept
}

type rejectArgs struct {
	Session string
	Fence   int64
	Digest  string // of the message
	ID      string // of the message, as JSON
	Most    int    // most messages that a lease may reject
}

const (
	maxAsks    = 10 // most asks of one lease
	maxRejects = 3
)

// ExpectRequest announces that the holder now asks the marketplace for a code.
type ExpectRequest struct {
	Session string
	Fence   int64
	Filter  Filter
	Key     string // Idempotency-Key: a repeat in the same lease is the same ask; "" = none
	// MessageID is an unmatched message that the holder claims for an earlier ask; "" = the holder asks now.
	MessageID string
	Keep      bool // with MessageID: the code does not end the lease
}

// Expectation is the answer to an ask.
type Expectation struct {
	Standing
	Ticket    int64
	Fence     int64
	Asked     int   // number of asks of this lease
	Open      int   // number of its asks without a code
	ExpiresAt int64 // unix ms: the lease's end
	AskAfter  int64 // unix ms: with ErrNumberBusy, when the holder may ask
	Claim     Match // with MessageID: the match of the message
}

// Expect records that the holder asks for a code, or with MessageID that it asked before.
//
// Errors: ErrInvalidExpect, ErrNoPlace, ErrStaleFence, ErrTooManyAsks, ErrNoMessage, ErrKeyReused,
// ErrNumberBusy with AskAfter, ErrStore. Source: rule 12 of docs/contract.md and docs/matching.md.
func (e *Engine) Expect(ctx context.Context, id ID, q ExpectRequest) (Expectation, error) {
	if err := q.Filter.Valid(); err != nil {
		return Expectation{}, err
	}
	request, body := "", ""
	if q.Key != "" {
		request = "expect:" + digest(fmt.Sprintf("%s %d %q %q", q.Session, q.Fence, q.Key, ""))
		body = digest(fmt.Sprintf("%q %q %q", q.Filter.From, q.Filter.Contains, q.MessageID))
	}
	message := ""
	if q.MessageID != "" {
		message = digest(q.MessageID)
	}
	filter, err := e.sealFilter(id, q.Filter)
	if err != nil {
		return Expectation{}, err
	}
	args := expectArgs{q.Session, q.Fence, filter, message, jsonText(q.MessageID), !q.Keep, maxAsks, body}
	a, err := e.answer(ctx, expectVerb.with(args).keptIn(requestKey(request)), id)
	x := Expectation{Standing: e.standingOf(id, &a), AskAfter: a.AskAfter}
	e.stood(id, q.Session, x.Standing)
	if err != nil {
		return x, err
	}
	switch {
	case a.Asked != nil && a.Asked.Body != body:
		return x, ErrKeyReused
	case a.Asked == nil, message != "" && a.Match == nil:
		return Expectation{}, fmt.Errorf("%w: reply has no ask", ErrStore)
	}
	x.Asked, x.Open, x.ExpiresAt = a.Asked.Asked, a.Asked.Open, a.Asked.Expires
	x.Ticket, x.Fence = a.Asked.Ticket, a.Asked.Fence
	if message != "" {
		x.Claim = *a.Match
	}
	if filter != "" {
		e.memory.learnFilter(id, filter, q.Filter)
	}
	return x, nil
}

// Reject records that a message is not its session's own. The message is then unmatched.
//
// The ask that the message answered is open again, with its old time. Errors: ErrNoMessage, ErrStaleFence,
// ErrTooManyRejects, ErrStore.
func (e *Engine) Reject(ctx context.Context, id ID, session string, fence int64, messageID string) error {
	args := rejectArgs{session, fence, digest(messageID), jsonText(messageID), maxRejects}
	_, err := e.answer(ctx, rejectVerb.with(args).keptIn(requestKey("")), id)
	return err
}

func jsonText(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // strings always marshal
		return `""`
	}
	return string(b)
}

// At returns Redis's time (unix ms) at an instant of this process, or slightly less; 0 before the first
// reply.
func (e *Engine) At(instant time.Time) int64 { return e.clock.At(instant) }
