package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
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

// String names the message, and not the code, which is a secret.
func (c Code) String() string { return "code of message " + c.MessageID }

// CodeOption restricts the messages that Code accepts, or sets how Code asks or how long it waits.
type CodeOption func(*asking)

type asking struct {
	from     []string
	contains string
	ask      func(context.Context) error
	late     time.Duration
}

// From accepts messages of these senders only; at most ten.
func From(senders ...string) CodeOption {
	return func(a *asking) { a.from = append(a.from, senders...) }
}

// Contains accepts only messages that contain a text.
func Contains(piece string) CodeOption { return func(a *asking) { a.contains = piece } }

// Ask sets the function that makes the marketplace send the code. It is called once the number is free. Its
// error ends Code. Without Ask, the caller asks the marketplace right after calling Code, and codes of other
// sellers may come first.
func Ask(marketplace func(context.Context) error) CodeOption {
	return func(a *asking) { a.ask = marketplace }
}

// Late lets Code wait for a while after the turn has ended. The seller may still use a code that comes after
// the end of its lease, or after a rejected one. Without Late, Code waits only for messages that the server
// is checking, and then returns *Ended.
func Late(d time.Duration) CodeOption { return func(a *asking) { a.late = d } }

// waitFor is how long one call waits at the server for a message.
const waitFor = 25 * time.Second

// Code asks for a code and returns it. While an earlier seller's code may still come the number is busy, and
// Code waits for that. A second call asks for another code. If the turn is over, Code asks for none and
// returns what it has not returned yet, such as to a program that was started again. It fails with ErrNotYet
// while the seller waits, and with *Ended where the turn is over and no code came.
func (t *Turn) Code(ctx context.Context, options ...CodeOption) (Code, error) {
	var a asking
	for _, o := range options {
		o(&a)
	}
	before, err := t.messages(ctx, "", 0)
	switch {
	case err != nil:
		return Code{}, err
	case before.Status == "waiting":
		return Code{}, ErrNotYet
	case before.Status == "ended":
		return t.await(ctx, inbox{}, a.late)
	}
	err = t.expect(ctx, before.Fence, a)
	if _, over := errors.AsType[*Ended](err); over {
		return t.await(ctx, inbox{}, a.late)
	}
	if err == nil && a.ask != nil {
		err = a.ask(ctx)
	}
	if err != nil {
		return Code{}, err
	}
	return t.await(ctx, before, a.late)
}

// expect tells the server that the seller asks for a code now. Retries of the request count once, by its key.
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

// inbox has the messages that the server returns for the session's last place.
type inbox struct {
	Status   string    `json:"status"`
	Fence    int64     `json:"fence"`   // 0 for null
	Judging  bool      `json:"judging"` // a message is still checked
	Messages []message `json:"messages"`
}

type message struct {
	ID         string    `json:"message_id"`
	Text       string    `json:"text"`
	Code       string    `json:"code"` // "" for null
	ReceivedAt time.Time `json:"received_at"`
	Late       bool      `json:"late"`
}

func (b inbox) last() string {
	if len(b.Messages) == 0 {
		return ""
	}
	return b.Messages[len(b.Messages)-1].ID
}

func (b inbox) has(id string) bool {
	return slices.ContainsFunc(b.Messages, func(m message) bool { return m.ID == id })
}

// take returns the newest code that was not in the inbox before and that no call has returned.
func (t *Turn) take(b, before inbox) (Code, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range slices.Backward(b.Messages) {
		if m.Code == "" || t.taken[m.ID] || before.has(m.ID) {
			continue
		}
		t.taken[m.ID] = true
		return Code{Code: m.Code, Text: m.Text, MessageID: m.ID, ReceivedAt: m.ReceivedAt, Late: m.Late,
			fence: b.Fence}, true
	}
	return Code{}, false
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
	err = t.c.call(ctx, q, &b)
	if code(err) == "no_place" {
		err = ErrNoTurn
	}
	return b, err
}

// await returns the next code that is not in `before`. A turn that has ended may still get its code: await
// waits for `late` after the end, and longer while the server checks a message.
func (t *Turn) await(ctx context.Context, before inbox, late time.Duration) (Code, error) {
	var over time.Time
	for b := before; ; {
		var err error
		if b, err = t.messages(ctx, b.last(), waitFor); err != nil {
			return Code{}, err
		}
		if c, ok := t.take(b, before); ok {
			return c, nil
		}
		if b.Status != "ended" {
			continue
		}
		if over.IsZero() {
			over = time.Now()
		}
		if !b.Judging && time.Since(over) >= late {
			return Code{}, t.ended(ctx)
		}
		if err := sleep(ctx, firstPause, nil); err != nil {
			return Code{}, err
		}
	}
}

// ended returns how the turn ended, and forgets its session.
func (t *Turn) ended(ctx context.Context) error {
	s, err := t.look(ctx)
	if err != nil {
		return err
	}
	return t.forget(ctx, &Ended{s.Outcome})
}

// Reject reports that a code is not the seller's. The code goes to support, and the server waits again for
// the one that the seller asked for.
//
// If the code has ended the turn, the seller's own code may still come: call Code with Late. Otherwise call
// Code again. It is no error if the server has forgotten the code, which it does after ten minutes.
func (t *Turn) Reject(ctx context.Context, c Code) error {
	q := t.request(http.MethodPost, "/lock/reject")
	q.body = map[string]any{"fence": c.fence, "message_id": c.MessageID}
	var done struct{}
	err := t.c.call(ctx, q, &done)
	if code(err) == "no_message" { // also where the answer to an earlier try was lost
		return nil
	}
	return err
}
