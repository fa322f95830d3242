// Package webhook tells another program what happened: a kind of outbox tasks that are posted to one address as Standard Webhooks.
//
//	deliver ──2xx──▶ record ──▶ done
//
// At least once, and those of one key in order: the receiver tells repeats apart by the webhook-id, which is the task's UID on every attempt.
package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/waitroom/waitroom/outbox"
)

// Kind is the Task.Kind by which webhooks are put in and registered.
const Kind = "webhook"

// The phases. A task is put in with Deliver.
const (
	Deliver outbox.Phase = "deliver" // post the payload to the receiver
	Record  outbox.Phase = "record"  // the receiver has it: say so in our own books
)

// Config says where to and how.
type Config struct {
	URL    string // where to post to
	Secret string // base64, with or without whsec_ before it; several, separated by commas, while one is replaced: each signs
	// Recorded is called when the receiver has a task, at least once, to write it in the books; nil = nothing to write.
	Recorded func(context.Context, outbox.Task) error
	Now      func() time.Time // for tests: the time that is signed; default time.Now
}

// New is the kind to register as Kind. It checks the address and the secret; its error names the setting, not the value.
func New(c Config) (outbox.Kind, error) {
	s, err := newSender(c.URL, c.Secret)
	if err != nil {
		return outbox.Kind{}, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return outbox.Kind{Do: outbox.Phases{
		Deliver: func(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
			return Record, s.send(ctx, t, c.Now())
		},
		Record: func(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
			if c.Recorded == nil {
				return outbox.Done, nil
			}
			return outbox.Done, c.Recorded(ctx, t)
		},
	}.Do, Close: s.client.CloseIdleConnections}, nil
}

// TypeOf is the "type" that a task's payload has, as Standard Webhooks writes it; "" = none.
func TypeOf(t outbox.Task) string {
	var event struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(t.Payload), &event) != nil {
		return ""
	}
	return event.Type
}
