package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// refusedRows returns the refused joins in a seller's story: ticket, times.
func refusedRows(t *testing.T, l *ledger.Ledger, seller string) (rows []string) {
	t.Helper()
	events, err := l.Story(t.Context(), ledger.Story{Seller: seller, Room: here})
	require.NoError(t, err)
	for _, e := range events {
		if e.Kind == "refused" {
			rows = append(rows, fmt.Sprintf("%d %s", e.Ticket, e.Detail))
		}
	}
	return rows
}

func TestRefusedJoinsAreOneRowAnHourInTheTimelineOfTheSellersPlace(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		now := time.UnixMilli(1763686800000) // a full hour
		c := b.config()
		c.Now = func() time.Time { return now }
		l := b.openWith(t, c)
		seller := joined(7).Seller
		for range 3 {
			l.JoinRefused(here, seller)
		}
		l.JoinRefused(here, "nobody")
		l.WriteRefused(t.Context())
		require.Empty(t, refusedRows(t, l, seller), "the ledger does not have the place yet")
		b.write(1, joined(7))
		require.NoError(t, l.Drain(t.Context(), here))
		l.WriteRefused(t.Context())
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":3}`}, refusedRows(t, l, seller))

		now = now.Add(59 * time.Minute)
		l.JoinRefused(here, seller)
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":4}`}, refusedRows(t, l, seller))
		now = now.Add(time.Minute)
		l.JoinRefused(here, seller)
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":4}`, `7 {"times":1}`}, refusedRows(t, l, seller))
		require.Empty(t, refusedRows(t, l, "nobody"))

		l.JoinRefused(here, seller)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		l.WriteRefused(gone)
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":4}`, `7 {"times":2}`}, refusedRows(t, l, seller),
			"what the database did not take is written later")
	})
}

func TestRefusedJoinsOfOnlySoManySellersWaitToBeWritten(t *testing.T) {
	b := newBench("sqlite:" + t.TempDir() + "/waitroom.db")
	l := b.open(t)
	b.write(1, joined(1), joined(2))
	require.NoError(t, l.Drain(t.Context(), here))
	l.JoinRefused(here, joined(1).Seller)
	for n := range ledger.RefusedMost {
		l.JoinRefused(room.ID(fmt.Sprint("other-", n)), "s")
	}
	l.JoinRefused(here, joined(1).Seller)
	l.JoinRefused(here, joined(2).Seller)
	l.WriteRefused(t.Context())
	require.Equal(t, []string{`1 {"times":2}`}, refusedRows(t, l, joined(1).Seller))
	require.Empty(t, refusedRows(t, l, joined(2).Seller))
}
