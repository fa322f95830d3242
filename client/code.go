package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Code is a message with a code that was matched to the turn's lease.
type Code struct {
	Code       string
	Text       string // of the whole message
	MessageID  string
	ReceivedAt time.Time
	Late       bool // the lease was over when it came
	fence      int64
}

// CodeOption says which message is meant, and how it is asked for.
type CodeOption func(*asking)

type asking struct {
	from     []string
	contains string
	ask      func(context.Context) error
	late     time.Duration
}

// From takes a message from one of these senders only; at most ten.
func From(senders ...string) CodeOption {
	return func(a *asking) { a.from = append(a.from, senders...) }
}

// Contains takes a message only that has this piece of text.
func Contains(piece string) CodeOption { return func(a *asking) { a.contains = piece } }

// Ask has the marketplace send the code: it is called once the number is free for that, and not before. Its
// error ends Code. Without it, the caller asks the marketplace right after Code was called, which other
// sellers' codes may precede.
func Ask(marketplace func(context.Context) error) CodeOption {
	return func(a *asking) { a.ask = marketplace }
}

// Late waits so long for a code after the turn is over, such as after its two minutes: the seller may still
// use it. Without it, Code fails with *Ended at once.
func Late(d time.Duration) CodeOption { return func(a *asking) { a.late = d } }

// waitFor is how long the server lets a call wait for a message.
const waitFor = 25 * time.Second

// Code asks for a code and returns it. While an earlier seller's code may still come the number is busy, and
// Code waits for that. A code that was sent again, or comes late, is returned as well; a second call asks for
// another code. It fails with ErrNotYet while the seller waits, and with *Ended where the turn is over before
// a code came.
func (t *Turn) Code(ctx context.Context, options ...CodeOption) (Code, error) {
	var a asking
	for _, o := range options {
		o(&a)
	}
	fence := t.State().Fence
	if fence == 0 {
		s, err := t.look(ctx)
		if err != nil {
			return Code{}, err
		}
		if s.Status == "ended" {
			return Code{}, &Ended{s.Outcome}
		}
		if fence = s.Fence; fence == 0 {
			return Code{}, ErrNotYet
		}
	}
	before, err := t.messages(ctx, "", 0)
	if err != nil {
		return Code{}, err
	}
	if err := t.expect(ctx, fence, a); err != nil {
		return Code{}, err
	}
	if a.ask != nil {
		if err := a.ask(ctx); err != nil {
			return Code{}, err
		}
	}
	return t.await(ctx, before.last(), a.late)
}

// expect asks, once however often the call is repeated.
func (t *Turn) expect(ctx context.Context, fence int64, a asking) error {
	q := t.request(http.MethodPost, "/lock/expect")
	q.key = newID()
	body := map[string]any{"fence": fence}
	if len(a.from) > 0 {
		body["from"] = a.from
	}
	if a.contains != "" {
		body["contains"] = a.contains
	}
	q.body = body
	err := t.c.call(ctx, q, &answer{})
	switch code(err) {
	case "stale_fence", "no_place":
		s, looked := t.look(ctx)
		if looked == nil && s.Status == "ended" {
			return &Ended{s.Outcome}
		}
		return cmp.Or(looked, err)
	}
	return err
}

// inbox is what the server has for the session's last place.
type inbox struct {
	Status   string `json:"status"`
	Fence    int64  `json:"fence"`   // 0 for null
	Judging  bool   `json:"judging"` // a message is still checked
	Messages []struct {
		ID         string    `json:"message_id"`
		Text       string    `json:"text"`
		Code       string    `json:"code"` // "" for null
		ReceivedAt time.Time `json:"received_at"`
		Late       bool      `json:"late"`
	} `json:"messages"`
}

func (b inbox) last() string {
	if len(b.Messages) == 0 {
		return ""
	}
	return b.Messages[len(b.Messages)-1].ID
}

func (t *Turn) messages(ctx context.Context, after string, wait time.Duration) (b inbox, err error) {
	q := t.request(http.MethodGet, "/lock/messages")
	q.query = url.Values{}
	if after != "" {
		q.query.Set("after", after)
	}
	if wait > 0 {
		q.query.Set("wait", strconv.Itoa(int(wait/time.Second)))
	}
	return b, t.c.call(ctx, q, &b)
}

// await returns the first code that comes after a message. A turn that is over may still get its code until
// the server has checked the last message, and for `late` longer.
func (t *Turn) await(ctx context.Context, after string, late time.Duration) (Code, error) {
	var over time.Time
	for {
		b, err := t.messages(ctx, after, waitFor)
		if err != nil {
			return Code{}, err
		}
		known := after == ""
		for _, m := range b.Messages {
			if !known {
				known = m.ID == after
				continue
			}
			if m.Code != "" {
				return Code{Code: m.Code, Text: m.Text, MessageID: m.ID, ReceivedAt: m.ReceivedAt, Late: m.Late,
					fence: b.Fence}, nil
			}
		}
		if b.Status == "ended" && over.IsZero() {
			over = time.Now()
		}
		if b.Status == "ended" && !b.Judging && time.Since(over) >= late {
			s, err := t.look(ctx)
			if err != nil {
				return Code{}, err
			}
			return Code{}, &Ended{s.Outcome}
		}
		if b.Status == "ended" {
			if err := sleep(ctx, firstPause, nil); err != nil {
				return Code{}, err
			}
		}
	}
}

// Reject says that a code is not the seller's. It goes to support, and the ask is open again: call Code anew,
// or wait for the seller's own code with a further one.
func (t *Turn) Reject(ctx context.Context, c Code) error {
	q := t.request(http.MethodPost, "/lock/reject")
	q.body = map[string]any{"fence": c.fence, "message_id": c.MessageID}
	var done struct{}
	return t.c.call(ctx, q, &done)
}
