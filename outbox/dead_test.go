package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestATaskIsGivenUpAfterADayAndPutBackIntoThePhaseItDiedIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		broken, done := errors.New("answered 500"), 0
		w := b.worker(t, outbox.Phases{
			outbox.Start: func(context.Context, outbox.Task) (outbox.Phase, error) { return "second", nil },
			"second": func(context.Context, outbox.Task) (outbox.Phase, error) {
				done++
				return outbox.Done,
					broken
			},
		}.Do)
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(24*time.Hour - time.Millisecond)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, 1, b.pending(t))
		b.clock.Move(time.Minute)
		require.NoError(t, w.Tick(t.Context()))
		dead, err := b.store.Dead(t.Context())
		require.NoError(t, err)
		require.Len(t, dead, 1)
		require.Equal(t, []any{"answered 500", outbox.Phase("second"), outbox.Dead},
			[]any{dead[0].LastError, dead[0].Phase, dead[0].State})
		b.clock.Move(time.Hour)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, 3, done, "a dead task is left alone")

		require.NoError(t, b.store.Retry(t.Context(), dead[0].ID))
		require.ErrorIs(t, b.store.Retry(t.Context(), dead[0].ID), outbox.ErrNotDead)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, 1, b.pending(t), "it has all its time again")
		broken = nil
		b.clock.Move(time.Second)
		require.NoError(t, w.Tick(t.Context()))
		require.Zero(t, b.pending(t))
	})
}

// threeDead makes the jobs a and b and the task c of another kind dead letters, in this order.
func (b *bench) threeDead(t *testing.T) {
	t.Helper()
	b.putAll(t, outbox.Task{Kind: job, Payload: "a"}, outbox.Task{Kind: job, Payload: "b"},
		outbox.Task{Kind: "other", Payload: "c"})
	for _, kind := range []string{job, job, "other"} {
		task, ok, err := b.store.Claim(t.Context(), kind, b.clock.Now().UnixMilli())
		require.NoError(t, err)
		require.True(t, ok)
		b.clock.Move(time.Second)
		require.NoError(t, b.store.GiveUp(t.Context(), task, "no use\x00\xff"))
	}
}

func TestDeadTasksAreListedByKindTheLatestFirst(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.threeDead(t)
		for want, kinds := range map[string][]string{"cba": nil, "ba": {job}, "c": {"other"}, "": {"third"}} {
			dead, err := b.store.Dead(t.Context(), kinds...)
			require.NoError(t, err)
			var got string
			for _, task := range dead {
				got += task.Payload
			}
			require.Equal(t, want, got)
			counts, err := b.store.Count(t.Context(), kinds...)
			require.NoError(t, err)
			require.Equal(t, outbox.Counts{Dead: len(want)}, counts)
		}
	})
}

func TestAllDeadTasksOfAKindArePutBackAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.threeDead(t)
		n, err := b.store.RetryAll(t.Context(), job)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		counts, err := b.store.Count(t.Context())
		require.NoError(t, err)
		require.Equal(t, outbox.Counts{Pending: 2, Dead: 1}, counts)
		n, err = b.store.RetryAll(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, n, "of every kind")
	})
}

func TestFailingSaysSinceWhenAndWhyTasksAreNotDone(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		f, err := b.store.Failing(t.Context(), job)
		require.NoError(t, err)
		require.Zero(t, f, "nothing was tried")
		since, broken := b.clock.Now().UnixMilli(), errors.New("answered 500")
		w := b.worker(t, func(context.Context, outbox.Task) (outbox.Phase, error) { return outbox.Done, broken })
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(time.Minute)
		b.put(t, "", "b")
		broken = errors.New("answered 503")
		require.NoError(t, w.Tick(t.Context()))
		f, err = b.store.Failing(t.Context(), job)
		require.NoError(t, err)
		require.Equal(t, outbox.Failure{Since: since, Error: "answered 503"}, f)
		f, err = b.store.Failing(t.Context(), "other")
		require.NoError(t, err)
		require.Zero(t, f)
		broken = nil
		b.clock.Move(time.Minute)
		require.NoError(t, w.Tick(t.Context()))
		f, err = b.store.Failing(t.Context())
		require.NoError(t, err)
		require.Zero(t, f, "all are done")
	})
}

func TestDoneTasksAreForgottenInTheEndAndDeadOnesAreNot(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for _, payload := range []string{"a", "b", "hopeless"} {
			b.put(t, "", payload)
		}
		b.putAll(t, outbox.Task{Kind: "other"})
		w := b.worker(t, func(_ context.Context, t outbox.Task) (outbox.Phase, error) {
			if t.Payload == "hopeless" {
				return "", outbox.ErrGiveUp
			}
			return outbox.Done, nil
		})
		require.NoError(t, w.Tick(t.Context()))
		b.put(t, "", "c")
		b.clock.Move(8 * 24 * time.Hour)
		n, err := b.store.Forget(t.Context(), job, 7*24*time.Hour)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		counts, err := b.store.Count(t.Context(), job)
		require.NoError(t, err)
		require.Equal(t, outbox.Counts{Pending: 1, Dead: 1}, counts)
	})
}
