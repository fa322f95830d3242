package outbox_test

import (
	"context"
	"errors"
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
	onEach(t, func(t *testing.T, b *bench) {
		if b.dialect != outbox.SQLite {
			return
		}
		b.put(t, "lease/1", "held")
		_, ok, err := b.store.Claim(t.Context(), job, b.clock.Now().UnixMilli())
		require.NoError(t, err)
		require.True(t, ok)
		other, err := b.db.Conn(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, other.Close()) }()
		_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		require.NoError(t, err)
		_, ok, err = b.store.Claim(t.Context(), job, b.clock.Now().UnixMilli())
		require.NoError(t, err, "while another writes")
		require.False(t, ok)
		_, err = other.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
	})
}
