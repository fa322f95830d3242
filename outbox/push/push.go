// Package push notifies sellers' browsers while no page is open: a kind of outbox tasks, one for each browser
// and event. News expire; a task that is not done by then is over, not dead.
package push

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/outbox"
)

// The Task.Kinds of pushes. Turns have a kind of their own, so that they do not wait for places that are
// passed over, of which there may be many at once, with push services that do not answer.
const (
	Kind     = "push"
	AwayKind = "push_away"
)

// Values of News.What.
const (
	Turn = "turn" // the lock is the seller's
	Away = "away" // the place is passed over, and will be dropped
)

const (
	turns   = 32 // sent at a time, by a replica
	aways   = 8
	timeout = 10 * time.Second // for one browser
	keep    = time.Hour
	never   = -1 // news expire, and are done then
)

// News is what a browser is notified of.
type News struct {
	What    string `json:"what"`
	Room    string `json:"room"`
	Ticket  int64  `json:"ticket"`
	Fence   int64  `json:"fence,omitempty"` // of a turn, also of a missed one
	At      int64  `json:"at"`              // unix ms
	Browser string `json:"browser"`         // key of the subscription; nothing can be sent with it alone
}

// Task returns the task to enqueue. The same news for the same browser is enqueued once; a place that is
// passed over, once a minute.
func (n News) Task() (outbox.Task, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return outbox.Task{}, fmt.Errorf("encode news: %w", err)
	}
	kind, which := Kind, n.Fence
	if n.What == Away {
		kind = AwayKind
	}
	if n.Fence == 0 { // each missed turn has its own
		which = n.At / time.Minute.Milliseconds()
	}
	return outbox.Task{UID: fmt.Sprintf("psh_%s_%d_%s", n.What, which, n.Browser), Kind: kind,
		Payload: string(text), CreatedAt: n.At}, nil
}

// Send notifies a browser. After an error the task is retried; once the news has expired, Send returns nil.
type Send func(context.Context, News) error

// Kinds returns the kinds to register.
func Kinds(send Send) map[string]outbox.Kind {
	return map[string]outbox.Kind{Kind: kind(send, turns), AwayKind: kind(send, aways)}
}

func kind(send Send, parallel int) outbox.Kind {
	return outbox.Kind{Parallel: parallel, Timeout: timeout, GiveUpAfter: never, Keep: keep,
		Do: outbox.Phases{outbox.Start: func(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
			var n News
			if err := json.Unmarshal([]byte(t.Payload), &n); err != nil {
				return "", fmt.Errorf("%w: read news: %w", outbox.ErrGiveUp, err)
			}
			return outbox.Done, send(ctx, n)
		}}.Do}
}
