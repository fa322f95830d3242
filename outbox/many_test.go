package outbox_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestWhenNothingFailsEachPhaseIsDoneOnceAndEachKeyInOrder(t *testing.T) {
	onceAndInOrder(t, 5, 120, 12)
}

// onceAndInOrder lets several workers do many tasks, and requires that each was done once and in the order of
// its key. Every second task has a key, one of keys/2.
func onceAndInOrder(t *testing.T, workers, tasks, keys int) {
	t.Helper()
	onEach(t, func(t *testing.T, b *bench) {
		all := make([]outbox.Task, tasks)
		for i := range all {
			all[i] = outbox.Task{Kind: job, Payload: fmt.Sprint(i)}
			if i%2 == 0 {
				all[i].Key = fmt.Sprint(i % keys)
			}
		}
		b.putAll(t, all...)
		var c calls
		order := ordered{last: map[string]string{}}
		do := c.record(func(_ context.Context, t outbox.Task) (outbox.Phase, error) {
			if t.Phase == outbox.Start {
				return "second", nil
			}
			return outbox.Done, order.append(t)
		})
		var wg sync.WaitGroup
		for range workers {
			w := b.worker(t, do)
			wg.Go(func() {
				for {
					if err := w.Tick(t.Context()); err != nil {
						t.Errorf("tick: %v", err)
						return
					}
					// A tick may end early: it skips what others are looking at.
					if counts, err := b.store.Count(t.Context()); err != nil || counts.Pending == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		require.Zero(t, b.pending(t))
		seen := c.seen()
		require.Len(t, seen, 2*tasks)
		for what, n := range seen {
			require.Equal(t, 1, n, what)
		}
		require.False(t, c.overlap)
		require.Empty(t, order.wrong)
	})
}

// ordered is a handler that records each task that arrives after a later task of the same key. Payloads are
// numbers in their order.
type ordered struct {
	mu    sync.Mutex
	last  map[string]string
	wrong []string
}

func (o *ordered) append(t outbox.Task) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := o.last[t.Key]; t.Key != "" &&
		(len(last) > len(t.Payload) || len(last) == len(t.Payload) && last > t.Payload) {
		o.wrong = append(o.wrong, last+" before "+t.Payload)
	}
	o.last[t.Key] = t.Payload
	return nil
}
