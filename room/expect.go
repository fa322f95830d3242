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
	Filter    string // sealed, for Go to read; "" = any message
	Digest    string // of the message that is claimed; "" = it asks now
	ID        string // the message's, as JSON
	Completes bool   // a code ends the lease
	Most      int    // asks of a lease
	Body      string // digest of what is asked, which is remembered with the answer; "" = nothing is
}

type rejectArgs struct {
	Session string
	Fence   int64
	Digest  string // of the message
	ID      string // the message's, as JSON
	Most    int    // rejects of a lease
}

const (
	maxAsks    = 10 // of one lease
	maxRejects = 3
)

// ExpectRequest says that the holder now asks for a code.
type ExpectRequest struct {
	Session   string
	Fence     int64
	Filter    Filter
	Key       string // Idempotency-Key: a repeat in the same lease is the same ask; "" = none
	MessageID string // the holder asked before and this unmatched message is the answer; "" = it asks now
	Keep      bool   // with MessageID: the code does not end the lease
}

// Expectation is the answer to an ask.
type Expectation struct {
	Standing
	Ticket    int64
	Fence     int64
	Asked     int   // how often this lease has asked
	Open      int   // and how many of the asks no code has come for
	ExpiresAt int64 // unix ms: the lease's end
	AskAfter  int64 // unix ms: with ErrNumberBusy, from when it may be asked again
	Claim     Match // with MessageID: where the message belongs now
}

// Expect notes that the holder asks for a code, or with MessageID that it had asked before. Refusals: ErrInvalidExpect,
// ErrNoPlace, ErrStaleFence, ErrTooManyAsks, ErrNoMessage, ErrKeyReused, and ErrNumberBusy with AskAfter.
func (e *Engine) Expect(ctx context.Context, id ID, q ExpectRequest) (Expectation, error) {
	if err := q.Filter.Valid(); err != nil {
		return Expectation{}, err
	}
	request, body := "", ""
	if q.Key != "" {
		request = "expect:" + digest(fmt.Sprintf("%s %d %q %q", q.Session, q.Fence, q.Key, ""))
		body = digest(fmt.Sprintf("%q %q %q", q.Filter.From, q.Filter.Contains, q.MessageID))
	}
	message, own := "", []string{requestKey(request)}
	if q.MessageID != "" {
		message, own = digest(q.MessageID), append(own, messageKey(q.MessageID))
	}
	filter, err := e.sealer(id).sealFilter(id, q.Filter)
	if err != nil {
		return Expectation{}, err
	}
	a, err := e.answer(ctx, expectVerb.with(expectArgs{q.Session, q.Fence, filter, message, jsonText(q.MessageID), !q.Keep, maxAsks, body}), id, own)
	x := Expectation{Standing: a.standing}
	e.stood(id, q.Session, a.standing)
	r := reader{fields: a.rest}
	switch {
	case err == nil && rememberedOther(a.rest, body):
		return x, ErrKeyReused
	case err == nil:
		x.Asked, x.Open, x.ExpiresAt, x.Ticket, x.Fence = int(r.int()), int(r.int()), r.int(), r.int(), r.int()
		if message != "" {
			x.Claim = Match{Result: Matched, Ticket: x.Ticket, Fence: x.Fence, Epoch: r.int(), Granted: r.int(), Ended: r.int(), Judge: true}
			x.Claim.At, x.Claim.Completes = x.Claim.Ended, x.Open == 0 && !q.Keep
		}
		if r.short {
			return Expectation{}, fmt.Errorf("%w: expect reply is cut short", ErrStore)
		}
		if filter != "" {
			e.memory.learnFilter(id, filter, q.Filter)
		}
	case len(a.rest) == 1: // number_busy
		x.AskAfter = r.int()
	}
	return x, err
}

// rememberedOther reports whether the answer is a repeat's to another body. What a program of before remembered says nothing of that.
func rememberedOther(rest []string, body string) bool {
	if body == "" || len(rest) == 0 {
		return false
	}
	last := rest[len(rest)-1]
	return len(last) == len(body) && last != body
}

// Reject says that a message is not its holder's: it is unmatched from then on, and its ask is open again as of its old time.
// Refusals: ErrNoMessage, ErrStaleFence, ErrTooManyRejects.
func (e *Engine) Reject(ctx context.Context, id ID, session string, fence int64, messageID string) error {
	own := []string{requestKey(""), messageKey(messageID)}
	_, err := e.answer(ctx, rejectVerb.with(rejectArgs{session, fence, digest(messageID), jsonText(messageID), maxRejects}), id, own)
	return err
}

func jsonText(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // strings always marshal
		return `""`
	}
	return string(b)
}

// At is Redis's time at an instant of this process, in unix ms, or somewhat before it; 0 where Redis never answered.
func (e *Engine) At(instant time.Time) int64 { return e.clock.at(instant) }
