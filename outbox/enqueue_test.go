package outbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestATaskIsThereOnlyIfItsTransactionCommits(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		tx, err := b.db.Begin()
		require.NoError(t, err)
		require.NoError(t, outbox.Enqueue(t.Context(), tx, b.dialect, outbox.Task{Kind: job}))
		require.NoError(t, tx.Rollback())
		b.requireNoneClaimable(t)
	})
}

func TestTasksPutInTogetherFollowThoseBeforeInTheirOrder(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "key/1", "first")
		var tasks []outbox.Task
		for i := range 120 { // more than one statement of each
			tasks = append(tasks, outbox.Task{Kind: job, Key: fmt.Sprint("key/", i%2), Payload: fmt.Sprint(i)})
		}
		b.putAll(t, tasks...)
		require.NoError(t, outbox.Enqueue(t.Context(), b.db, b.dialect), "nothing is to be put in")
		last := map[string]int{"key/0": -2, "key/1": -3}
		for n := 0; ; n++ {
			task, ok := b.claim(t)
			if !ok {
				require.Equal(t, 121, n)
				return
			}
			at := -1
			if task.Payload != "first" {
				_, err := fmt.Sscan(task.Payload, &at)
				require.NoError(t, err)
			}
			require.Equal(t, last[task.Key]+2, at, task.Key)
			last[task.Key] = at
			require.NoError(t, b.store.Unlock(t.Context(), task, outbox.Done))
		}
	})
}

func TestATaskComesBackAsItWasPutIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.clock.Move(7)
		in := outbox.Task{UID: "evt_1", Kind: job, Key: `주문/"1"/$2?`, Phase: "ship",
			Payload: `{"text":"\\u0000 \"인증\" 🎫"}`}
		b.putAll(t, in)
		out := b.mustClaim(t)
		require.Equal(t, []any{in.UID, in.Kind, in.Key, in.Phase, in.Payload},
			[]any{out.UID, out.Kind, out.Key, out.Phase, out.Payload})
		require.Equal(t, b.clock.Now().UnixMilli(), out.CreatedAt)
		require.Equal(t, outbox.Open, out.State)
	})
}

func TestWhatIsLeftOutIsFilledIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		require.NoError(t, outbox.Enqueue(t.Context(), b.db, b.dialect, outbox.Task{Kind: job},
			outbox.Task{Kind: job}))
		one, two := b.mustClaim(t), b.mustClaim(t)
		require.NotEmpty(t, one.UID)
		require.NotEqual(t, one.UID, two.UID)
		require.Equal(t, outbox.Start, one.Phase)
		require.InDelta(t, b.clock.Now().UnixMilli(), one.CreatedAt, 60_000)
	})
}

func TestATaskOfTheSameUIDIsPutInOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.putAll(t, outbox.Task{UID: "order-7", Kind: job, Payload: "first"})
		b.putAll(t, outbox.Task{UID: "order-7", Kind: job, Payload: "again"},
			outbox.Task{UID: "order-8", Kind: job})
		require.Equal(t, 2, b.pending(t))
		require.Equal(t, "first", b.mustClaim(t).Payload)
	})
}

func TestATaskThatNoDatabaseCanKeepIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		long := outbox.Task{Kind: strings.Repeat("가", 64), Key: strings.Repeat("가", 512),
			UID: strings.Repeat("가", 128), Phase: outbox.Phase(strings.Repeat("가", 64))}
		b.putAll(t, long)
		for why, task := range map[string]outbox.Task{
			"no kind":      {},
			"long kind":    {Kind: long.Kind + "a"},
			"long key":     {Kind: job, Key: long.Key + "a"},
			"long UID":     {Kind: job, UID: long.UID + "a"},
			"long phase":   {Kind: job, Phase: long.Phase + "a"},
			"NUL":          {Kind: job, Payload: "a\x00"},
			"not UTF-8":    {Kind: job, Key: "\xff"},
			"begins done":  {Kind: job, Phase: outbox.Done},
			"space at end": {Kind: job, UID: "order-7 "},
			// MySQL compares text without it: the second of two would not be put in
			"kind's space":   {Kind: job + " "},
			"key's space":    {Kind: job, Key: "order/7 "},
			"phase's space":  {Kind: job, Phase: "ship "},
			"begins nowhere": {Kind: job, Phase: outbox.Settled},
		} {
			require.ErrorIs(t, outbox.Enqueue(t.Context(), b.db, b.dialect, outbox.Task{Kind: job}, task),
				outbox.ErrInvalidTask, why)
		}
		require.Equal(t, 1, b.pending(t), "nothing of what was refused is there")
	})
}
