package outbox_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestALockIsTakenOverOnlyWhenItIsOlderThanThirtySeconds(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		require.EqualValues(t, 1, b.mustClaim(t).Attempts)
		b.clock.Move(30 * time.Second)
		b.requireNoneClaimable(t)
		b.clock.Move(time.Millisecond)
		require.EqualValues(t, 2, b.mustClaim(t).Attempts)
	})
}

func TestALocksTimeoutCanBeSet(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.store = outbox.NewStore(b.db, b.dialect,
			outbox.StoreConfig{LockTimeout: 2 * time.Minute, Now: b.clock.Now})
		b.put(t, "", "a")
		b.mustClaim(t)
		b.clock.Move(2 * time.Minute)
		b.requireNoneClaimable(t)
		b.clock.Move(time.Millisecond)
		task := b.mustClaim(t)
		require.NoError(t, b.store.Relock(t.Context(), task, "")) // it has waited for 2 minutes and a millisecond
		b.clock.Move(30 * time.Second)
		b.requireNoneClaimable(t)
		b.clock.Move(time.Millisecond)
		b.mustClaim(t)
	})
}

func TestReplacedReplicaChangesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		stale := b.mustClaim(t)
		b.clock.Move(31 * time.Second)
		mine := b.mustClaim(t)

		require.ErrorIs(t, b.store.Unlock(t.Context(), stale, outbox.Done), outbox.ErrNotHeld)
		require.ErrorIs(t, b.store.Relock(t.Context(), stale, "late"), outbox.ErrNotHeld)
		require.ErrorIs(t, b.store.Release(t.Context(), stale), outbox.ErrNotHeld)
		require.ErrorIs(t, b.store.GiveUp(t.Context(), stale, "late"), outbox.ErrNotHeld)
		b.requireNoneClaimable(t, "it is still locked by the one who took it over")
		require.NoError(t, b.store.Unlock(t.Context(), mine, outbox.Done))
		require.ErrorIs(t, b.store.Unlock(t.Context(), mine, "next"), outbox.ErrNotHeld, "done is for good")
		require.Zero(t, b.pending(t))
	})
}

func TestTheTaskThatWasWrittenToTheLongestAgoComesFirst(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"a", "b", "c"} {
			b.put(t, "", name)
			b.clock.Move(time.Second)
		}
		a := b.mustClaim(t)
		require.Equal(t, "a", a.Payload)
		require.NoError(t, b.store.Relock(t.Context(), a, ""))
		b.clock.Move(time.Minute)
		for _, want := range []string{"b", "c", "a"} { // a was written to last
			require.Equal(t, want, b.mustClaim(t).Payload)
		}
	})
}

func TestATaskWaitsForThoseBeforeItOfItsKeyAlone(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "key/1", "first")
		b.put(t, "key/1", "second")
		b.put(t, "KEY/1", "other")
		b.put(t, "", "free")
		b.put(t, "", "free too")
		first := b.mustClaim(t)
		for _, want := range []string{"other", "free", "free too"} {
			require.Equal(t, want, b.mustClaim(t).Payload)
		}
		b.requireNoneClaimable(t)

		require.NoError(t, b.store.Unlock(t.Context(), first, "more"))
		first = b.mustClaim(t)
		require.Equal(t, outbox.Phase("more"), first.Phase, "a task with a phase to go is not done")
		b.requireNoneClaimable(t)
		require.NoError(t, b.store.Relock(t.Context(), first, ""))
		b.requireNoneClaimable(t, "who rests is before those behind it")
		b.clock.Move(time.Millisecond)
		require.NoError(t, b.store.GiveUp(t.Context(), b.mustClaim(t), "no use"))
		require.Equal(t, "second", b.mustClaim(t).Payload, "a dead task holds no other up")
	})
}

func TestAWorkerLeavesOtherKindsAlone(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.putAll(t, outbox.Task{Kind: "other", Payload: "a"})
		b.requireNoneClaimable(t)
		_, ok, err := b.store.Claim(t.Context(), "other", b.clock.Now().UnixMilli())
		require.NoError(t, err)
		require.True(t, ok)
	})
}

func TestATaskIsClaimedByOneOfManyAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for i := range 3 {
			b.put(t, "", fmt.Sprint(i))
		}
		var wg sync.WaitGroup
		claimed := make(chan string, 10)
		for range 10 {
			wg.Go(func() {
				task, ok, err := b.store.Claim(t.Context(), job, b.clock.Now().UnixMilli())
				if err != nil {
					claimed <- err.Error()
				} else if ok {
					claimed <- task.Payload
				}
			})
		}
		wg.Wait()
		close(claimed)
		var got []string
		for payload := range claimed {
			got = append(got, payload)
		}
		require.Subset(t, []string{"0", "1", "2"}, got)
		require.NotEmpty(t, got)
		require.Len(t, unique(got), len(got), "no task is claimed twice")
	})
}

func unique(list []string) map[string]bool {
	set := make(map[string]bool)
	for _, s := range list {
		set[s] = true
	}
	return set
}

func TestWithoutAClockTheDatabaseGivesTheTime(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		ms, err := outbox.NewStore(b.db, b.dialect, outbox.StoreConfig{}).Now(t.Context())
		require.NoError(t, err)
		require.InDelta(t, time.Now().UnixMilli(), ms, 60_000)
	})
}
