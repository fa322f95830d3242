package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

// Phases that end in a transaction of their own have one connection each, and may have all that there are.
func TestPhasesThatUnlockInTheirOwnTransactionNeedNoFurtherConnection(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for i := range 8 {
			b.put(t, "", fmt.Sprint(i))
		}
		b.db.SetMaxOpenConns(1)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends a test that hangs
		defer cancel()
		store := outbox.NewStore(b.db, b.dialect, outbox.StoreConfig{}) // by the database's own clock
		for range 8 {
			now, err := store.Now(ctx)
			require.NoError(t, err)
			task, ok, err := store.Claim(ctx, job, now)
			require.NoError(t, err)
			require.True(t, ok)
			tx, err := b.db.BeginTx(ctx, nil)
			require.NoError(t, err)
			require.NoError(t, store.UnlockTx(ctx, tx, task, outbox.Done))
			require.NoError(t, tx.Commit())
		}
		require.Zero(t, b.pending(t))
	})
}
