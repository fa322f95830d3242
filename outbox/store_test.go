package outbox_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestBackoffIsATenthOfTheTimeWaitedAndThenThirtySeconds(t *testing.T) {
	for _, c := range []struct{ waited, want time.Duration }{
		{0, 0},
		{time.Millisecond, time.Millisecond},
		{time.Second, 100 * time.Millisecond},
		{1001 * time.Millisecond, 101 * time.Millisecond},
		{10 * time.Second, time.Second},
		{30 * time.Second, 3 * time.Second},
		{2 * time.Minute, 12 * time.Second},
		{2*time.Minute + time.Millisecond, 30 * time.Second},
		{3 * time.Minute, 30 * time.Second},
		{time.Hour, 30 * time.Second},
	} {
		require.Equal(t, c.want, outbox.Backoff(c.waited), c.waited)
	}
}

func TestRelockRestsByTheFormulaUpToDeath(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		first := b.clock.Now()
		b.clock.Move(time.Hour) // nobody tried meanwhile: that is no waiting
		start := b.clock.Now()
		for waited := time.Duration(0); waited < 24*time.Hour; {
			task, ok := b.claim(t)
			require.True(t, ok, "after %s", waited)
			require.Equal(t, start.UnixMilli(), task.WaitingSince)
			phase, err := b.store.Relock(t.Context(), task, "receiver answered 500")
			require.NoError(t, err)
			require.Equal(t, outbox.Deliver, phase)

			rest := (waited + 9*time.Millisecond).Truncate(time.Millisecond) / 10
			rest = rest.Truncate(time.Millisecond)
			if waited > 2*time.Minute {
				rest = 30 * time.Second
			}
			b.clock.Move(rest)
			_, early := b.claim(t)
			require.False(t, early, "claimed after %s, before its rest of %s was over", waited, rest)
			b.clock.Move(time.Millisecond)
			if waited < time.Second { // as ticks would
				b.clock.Move(time.Second)
			}
			waited = b.clock.Now().Sub(start)
		}
		task, ok := b.claim(t)
		require.True(t, ok)
		phase, err := b.store.Relock(t.Context(), task, "receiver answered 500")
		require.NoError(t, err)
		require.Equal(t, outbox.Dead, phase)

		dead, err := b.store.Dead(t.Context())
		require.NoError(t, err)
		require.Len(t, dead, 1)
		require.Equal(t, "receiver answered 500", dead[0].LastError)
		require.Equal(t, first.UnixMilli(), dead[0].CreatedAt)
	})
}

func TestSupportRetriesADeadTask(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		b.receiver.answers(always(500))
		w := b.worker(t)
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(24 * time.Hour)
		require.NoError(t, w.Tick(t.Context()))
		dead, err := b.store.Dead(t.Context())
		require.NoError(t, err)
		require.Len(t, dead, 1)
		b.clock.Move(time.Hour)
		require.NoError(t, w.Tick(t.Context()))
		require.Empty(t, b.receiver.told(), "a dead task is left alone")

		b.receiver.answers(nil)
		require.NoError(t, b.store.Retry(t.Context(), dead[0].ID))
		require.ErrorIs(t, b.store.Retry(t.Context(), dead[0].ID), outbox.ErrNotDead)
		require.NoError(t, w.Tick(t.Context()))
		require.Len(t, b.receiver.told(), 1)
		require.Equal(t, dead[0].EventID, b.receiver.told()[0].id)
	})
}

func TestALockIsTakenOverOnlyAfterThirtySeconds(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		_, ok := b.claim(t)
		require.True(t, ok)
		b.clock.Move(30 * time.Second)
		_, ok = b.claim(t)
		require.False(t, ok)
		b.clock.Move(time.Millisecond)
		_, ok = b.claim(t)
		require.True(t, ok)
	})
}

func TestAWorkerWhoseTaskWasTakenOverChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		stale, _ := b.claim(t)
		b.clock.Move(31 * time.Second)
		mine, ok := b.claim(t)
		require.True(t, ok)

		require.ErrorIs(t, b.store.Unlock(t.Context(), stale, outbox.Done), outbox.ErrNotHeld)
		_, err := b.store.Relock(t.Context(), stale, "late")
		require.ErrorIs(t, err, outbox.ErrNotHeld)
		_, ok = b.claim(t)
		require.False(t, ok, "it is still locked by the one who took it over")
		require.NoError(t, b.store.Unlock(t.Context(), mine, outbox.Done))
		require.ErrorIs(t, b.store.Unlock(t.Context(), mine, outbox.Deliver), outbox.ErrNotHeld, "done is for good")
	})
}

func TestATaskWaitsForTheEarlierOnesOfItsLeaseAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		b.put(t, "integration/1", "lock.ended")
		b.put(t, "integration/2", "lock.granted")
		granted, ok := b.claim(t)
		require.True(t, ok)
		require.Equal(t, "lock.granted", granted.Type)
		other, ok := b.claim(t)
		require.True(t, ok)
		require.Equal(t, "integration/2", other.LeaseKey)
		_, ok = b.claim(t)
		require.False(t, ok)

		require.NoError(t, b.store.Unlock(t.Context(), granted, outbox.Record))
		again, ok := b.claim(t)
		require.True(t, ok)
		require.Equal(t, outbox.Record, again.Phase, "a task with a phase to go is not finished")
		_, ok = b.claim(t)
		require.False(t, ok)
		require.NoError(t, b.store.Unlock(t.Context(), again, outbox.Done))
		ended, ok := b.claim(t)
		require.True(t, ok)
		require.Equal(t, "lock.ended", ended.Type)
	})
}

func TestOneTaskIsClaimedByOneOfManyAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		var wg sync.WaitGroup
		claimed := make(chan outbox.Task, 8)
		for range 8 {
			wg.Go(func() {
				if task, ok, err := b.store.Claim(t.Context(), b.clock.Now().UnixMilli()); err != nil || ok {
					claimed <- task
				}
			})
		}
		wg.Wait()
		require.Len(t, claimed, 1)
		require.NotZero(t, (<-claimed).ID)
	})
}

func TestDoneTasksAreForgottenInTheEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		b.put(t, "integration/2", "lock.granted")
		require.NoError(t, b.worker(t).Tick(t.Context()))
		b.put(t, "integration/3", "lock.granted")
		b.clock.Move(8 * 24 * time.Hour)
		n, err := b.store.Forget(t.Context(), 7*24*time.Hour)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		counts, err := b.store.Count(t.Context())
		require.NoError(t, err)
		require.Equal(t, outbox.Counts{Pending: 1}, counts)
	})
}

func TestWithoutAClockTheDatabaseTellsTheTime(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ms, err := outbox.NewStore(b.db, b.dialect, nil).Now(t.Context())
		require.NoError(t, err)
		require.InDelta(t, time.Now().UnixMilli(), ms, 60_000)
	})
}

func TestTasksPutInTogetherFollowThoseBeforeInTheirOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "first")
		var tasks []outbox.Task
		for i, lease := range []string{"integration/1", "integration/2", "integration/1", "integration/2"} {
			tasks = append(tasks, outbox.Task{Room: "integration", LeaseKey: lease, Type: fmt.Sprint(i), Payload: `{"text":"\\u0000 \"인증\""}`, CreatedAt: 7})
		}
		require.NoError(t, outbox.Enqueue(t.Context(), b.db, b.dialect, tasks...))
		require.NoError(t, outbox.Enqueue(t.Context(), b.db, b.dialect), "nothing is to be put in")

		var order []string
		for task, ok := b.claim(t); ok; task, ok = b.claim(t) {
			order = append(order, fmt.Sprint(task.LeaseKey, " ", task.Type, " ", task.Seq))
			if task.Type != "first" {
				require.Equal(t, tasks[0].Payload, task.Payload)
				require.EqualValues(t, 7, task.CreatedAt)
			}
			require.NoError(t, b.store.Unlock(t.Context(), task, outbox.Done))
		}
		require.Equal(t, []string{"integration/1 first 1", "integration/1 0 2", "integration/2 1 1", "integration/1 2 3", "integration/2 3 2"}, order)
	})
}
