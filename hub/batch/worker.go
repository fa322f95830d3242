// Package batch calls the store for items that gather while a call is under way: one call at a time, for all
// of them.
package batch

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

// Worker makes calls until no item is left. It puts back a batch whose call failed, and retries it after a
// while.
type Worker[B any] struct {
	// returns the items that have gathered; ok is false if there are none, which ends the run
	Next   func() (batch B, ok bool)
	Call   func(ctx context.Context, batch B) error
	Failed func(ctx context.Context, err error) // counts a failure
	Return func(batch B)                        // puts a batch back
	Wait   follow.Backoff                       // between a failure and the next call

	Paced bool               // whether to rest between calls
	Full  func(batch B) bool // a full batch is followed by the next at once; nil: none is full
}

// Run returns when no item is left, or when ctx ends.
func (w Worker[B]) Run(ctx context.Context) {
	var pace pace
	for {
		batch, ok := w.Next()
		if !ok {
			return
		}
		pace.begin()
		err := w.Call(ctx, batch)
		if err == nil {
			w.Wait.Reset()
			if w.Paced && !pace.rest(ctx, w.Full != nil && w.Full(batch)) {
				return
			}
			continue
		}
		w.Failed(ctx, err)
		w.Return(batch)
		if !w.Wait.Wait(ctx) {
			return
		}
	}
}

const (
	restFor  = 4                     // times as long as the call before took
	restMost = 20 * time.Millisecond // too short to be noticed
)

// pace limits how often calls are made. A call costs about the same for one item as for many: without a
// pause, each of thousands of items would get a call of its own. The first call after a while does not wait.
type pace struct{ began time.Time }

func (p *pace) begin() { p.began = time.Now() }

// rest waits after a call, unless the batch was full, since more items are waiting then. It returns false if
// ctx ended first.
func (p *pace) rest(ctx context.Context, full bool) bool {
	if full {
		return true
	}
	return follow.Pause(ctx, min(restFor*time.Since(p.began), restMost))
}
