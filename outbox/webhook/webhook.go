// Package webhook posts events to another program: a kind of outbox tasks, sent as Standard Webhooks to one
// address.
//
//	deliver ──2xx──▶ record ──▶ done
//	   └──no longer true──▶ done
//
// Delivery is at least once, in order for each key. The receiver recognizes repeats by the webhook-id, which
// is the task's UID on every attempt.
package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/waitroom/waitroom/outbox"
)

// Kind is the Task.Kind of webhooks.
const Kind = "webhook"

// The phases. A task is put in with Deliver.
const (
	Deliver outbox.Phase = "deliver" // post the payload to the receiver
	Record  outbox.Phase = "record"  // call Config.Recorded: the receiver has it
)

// Config configures the receiver.
type Config struct {
	URL string // address of the receiver
	// base64, with or without the prefix whsec_; several, separated by commas, while one is replaced: each
	// signs
	Secret string
	// Holds reports whether an event is still true; if not, it is not sent. An error counts as one of the
	// delivery. nil = every event is sent.
	Holds func(context.Context, outbox.Task) (bool, error)
	// Recorded is called when the receiver has a task, at least once; nil = no call.
	Recorded func(context.Context, outbox.Task) error
	Now      func() time.Time // for tests: the signed time; default time.Now
}

// New returns the kind to register as Kind. It checks the address and the secret; its error names the
// setting, not its value.
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
			if c.Holds != nil {
				if holds, err := c.Holds(ctx, t); err != nil || !holds {
					return outbox.Done, err
				}
			}
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

// TypeOf returns the "type" of a task's payload, as Standard Webhooks define it; "" = none.
func TypeOf(t outbox.Task) string {
	var event struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(t.Payload), &event) != nil {
		return ""
	}
	return event.Type
}
