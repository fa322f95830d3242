package outbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestWhatWasLockedWhileTheClockWasAheadGoesOnWhenItIsRight(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "lease/1", "rests")
		b.put(t, "lease/1", "behind it")
		b.put(t, "lease/2", "its worker dies")
		b.clock.Move(24 * time.Hour)
		failing := b.worker(t, func(context.Context, outbox.Task) (outbox.Phase, error) {
			return "",
				errors.New("502")
		})
		require.NoError(t, failing.Tick(t.Context()))
		_, ok, err := b.store.Claim(t.Context(), job, b.clock.Now().Add(time.Minute).UnixMilli())
		require.NoError(t, err)
		require.True(t, ok)
		b.clock.Move(-24 * time.Hour)
		done := 0
		w := b.worker(t, func(context.Context, outbox.Task) (outbox.Phase, error) {
			done++
			return outbox.Done,
				nil
		})
		for range 3 {
			b.clock.Move(time.Minute)
			require.NoError(t, w.Tick(t.Context()))
		}
		require.Equal(t, 3, done)
	})
}

// The search for a task does not block other writers of the file, such as the ledger.
func TestASearchOnSQLiteLocksNothing(t *testing.T) {
	at := sqlite(t)
	at.DSN = strings.Replace(at.DSN, "busy_timeout(60000)", "busy_timeout(0)", 1) // what is locked fails at once
	b := newBench(t, at)
	b.put(t, "lease/1", "held")
	b.mustClaim(t)
	b.put(t, "lease/2", "free")
	writer, err := b.db.BeginTx(t.Context(), nil) // it locks the file when it begins
	require.NoError(t, err)
	_, _, err = b.store.Claim(t.Context(), job, b.clock.Now().UnixMilli())
	require.ErrorContains(t, err, "locked", "a claim of what is free writes")
	require.NoError(t, writer.Rollback())
	b.mustClaim(t)

	writer, err = b.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	b.requireNoneClaimable(t, "while another writes")
	require.NoError(t, writer.Rollback())
}
