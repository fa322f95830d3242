// Package push has sellers' browsers told what they have to know while no page is open there: a kind of outbox tasks, one for each browser and each thing.
// What is told holds for a while: a task that can not be done by then is over, not dead.
package push

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/outbox"
)

// The Task.Kinds of pushes. Many places may be passed over at once, also on purpose and with push services that do not answer: turns do not wait for them.
const (
	Kind     = "push"
	AwayKind = "push_away"
)

// What is told.
const (
	Turn = "turn" // the lock is the seller's
	Away = "away" // the place is passed over, and will be dropped
)

const (
	turns   = 32 // told at a time, by a replica
	aways   = 8
	timeout = 10 * time.Second // of telling one browser
	keep    = time.Hour
	never   = -1 // news are over some day, and done then
)

// News is what a browser is to be told.
type News struct {
	What    string `json:"what"`
	Room    string `json:"room"`
	Ticket  int64  `json:"ticket"`
	Fence   int64  `json:"fence,omitempty"` // of a turn, also of one that was missed
	At      int64  `json:"at"`              // unix ms
	Browser string `json:"browser"`         // by which the subscription is found; nothing can be sent by it
}

// Task is what is put in; the same news for the same browser are put in once, and once a minute that it is passed over.
func (n News) Task() (outbox.Task, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return outbox.Task{}, fmt.Errorf("encode news: %w", err)
	}
	kind, which := Kind, n.Fence
	if n.What == Away {
		kind = AwayKind
	}
	if n.Fence == 0 { // who missed a turn is told so each time
		which = n.At / time.Minute.Milliseconds()
	}
	return outbox.Task{UID: fmt.Sprintf("psh_%s_%d_%s", n.What, which, n.Browser), Kind: kind, Payload: string(text), CreatedAt: n.At}, nil
}

// Tell tells a browser. An error has it tried again: once the news do not hold any more there is to be none.
type Tell func(context.Context, News) error

// Kinds are those to register.
func Kinds(tell Tell) map[string]outbox.Kind {
	return map[string]outbox.Kind{Kind: kind(tell, turns), AwayKind: kind(tell, aways)}
}

func kind(tell Tell, parallel int) outbox.Kind {
	return outbox.Kind{Parallel: parallel, Timeout: timeout, GiveUpAfter: never, Keep: keep, Do: outbox.Phases{outbox.Start: func(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
		var n News
		if err := json.Unmarshal([]byte(t.Payload), &n); err != nil {
			return "", fmt.Errorf("%w: read news: %w", outbox.ErrGiveUp, err)
		}
		return outbox.Done, tell(ctx, n)
	}}.Do}
}
