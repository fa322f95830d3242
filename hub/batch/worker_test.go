package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// gathered is a worker on a list of numbers, at most two in a batch, and its calls.
type gathered struct {
	items []int
	calls [][]int
	fails int // of the next calls
}

func (g *gathered) worker() Worker[[]int] {
	return Worker[[]int]{
		Next: func() ([]int, bool) {
			n := min(2, len(g.items))
			batch := g.items[:n:n]
			g.items = g.items[n:]
			return batch, n > 0
		},
		Call: func(_ context.Context, batch []int) error {
			g.calls = append(g.calls, batch)
			if g.fails > 0 {
				g.fails--
				return errors.New("away")
			}
			return nil
		},
		Failed: func(context.Context, error) {},
		Return: func(batch []int) { g.items = append(batch, g.items...) },
	}
}

func TestWorkerCallsForEachItemOnceAndEnds(t *testing.T) {
	g := &gathered{items: []int{1, 2, 3}}
	g.worker().Run(t.Context())
	require.Equal(t, [][]int{{1, 2}, {3}}, g.calls)
}

func TestFailedBatchIsCalledAgainAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began := &gathered{items: []int{1}, fails: 2}, time.Now()
		g.worker().Run(t.Context())
		require.Equal(t, [][]int{{1}, {1}, {1}}, g.calls)
		require.Positive(t, time.Since(began))
	})
}

func TestWorkerEndsWithItsContextAndKeepsTheFailedBatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &gathered{items: []int{1}, fails: 1}
	g.worker().Run(ctx)
	require.Equal(t, []int{1}, g.items)
	require.Len(t, g.calls, 1)
}

func TestPacedWorkerRestsUnlessABatchIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began := &gathered{items: []int{1, 2, 3}}, time.Now()
		w, call := g.worker(), g.worker().Call
		w.Paced, w.Full = true, func(batch []int) bool { return len(batch) == 2 }
		w.Call = func(ctx context.Context, batch []int) error {
			time.Sleep(time.Millisecond)
			return call(ctx, batch)
		}
		w.Run(t.Context())
		require.Equal(t, 2*time.Millisecond+restFor*time.Millisecond, time.Since(began),
			"after the second, which is not full")
	})
}

func TestCallsForMoreThanOneRestAsLongAsTheyTakeButNeverLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, rests := range map[time.Duration]time.Duration{0: 0, time.Millisecond: 4 * time.Millisecond,
			time.Second: 20 * time.Millisecond} {
			var p pace
			p.begin()
			time.Sleep(took)
			ended := time.Now()
			require.True(t, p.rest(t.Context(), false))
			require.Equal(t, rests, time.Since(ended))
			require.True(t, p.rest(t.Context(), true))
			require.Equal(t, rests, time.Since(ended), "there is nothing to wait for after a full one")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := pace{began: time.Now().Add(-time.Second)}
		require.False(t, p.rest(ctx, false))
	})
}
