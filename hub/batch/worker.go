// Package batch calls the store for items that gather while a call is under way: one call at a time, for all
// of them.
package batch

import (
	"context"

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
