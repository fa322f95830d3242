package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// This replica still reads from the old master, which does not have the epoch that other replicas began on
// the new one.
func TestReconcileEndsNothingOfALaterEpochForADay(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		view, _, err := b.journal.Look(t.Context(), here)
		require.NoError(t, err)
		for age, open := range map[time.Duration]int{time.Minute: 1, 25 * time.Hour: 0} {
			epoch := (view.Now - age.Milliseconds()) * 1000
			b.journal.epoch = epoch - 1
			b.write(epoch, joined(1))
			require.NoError(t, l.Drain(t.Context(), here))
			require.NoError(t, l.Reconcile(t.Context()))
			require.Equal(t, open, count(t, l, "places WHERE outcome IS NULL"), age)
			b.journal.epoch = epoch + 1
			require.NoError(t, l.Reconcile(t.Context()))
			require.Zero(t, count(t, l, "places WHERE outcome IS NULL"))
		}
	})
}

// A slow replica writes an entry that Redis has lost since.
func TestLeaseOfAPlaceThatIsKnownToBeOverIsOverToo(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), ended(1, room.Completed), joined(2))
		b.write(50, retold(1, 2, room.Lost, 0), room.Record{Type: "epoch", At: 99})
		require.NoError(t, l.Drain(t.Context(), here))
		b.write(1, granted(2))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1000 completed", "2000 lost"}, column(t, l.DB(), `SELECT fence || ' ' || outcome
			FROM leases ORDER BY fence`))
		require.Equal(t, 2, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"lock.ended\"%'"),
			"the integration gets it")
	})
}
