package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// refusedRows returns the refused joins in a seller's story: ticket, times.
func refusedRows(t *testing.T, l *ledger.Ledger, seller string) (rows []string) {
	t.Helper()
	events, err := l.Story(t.Context(), read.Story{Seller: seller, Room: here})
	require.NoError(t, err)
	for _, e := range events {
		if e.Kind == "refused" {
			rows = append(rows, fmt.Sprintf("%d %s", e.Ticket, e.Detail))
		}
	}
	return rows
}

func TestRefusedJoinsAreOneRowAnHourInTheTimelineOfThePlaceThatRefusedThem(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		at := int64(1763686800000) // a full hour
		l := b.open(t)
		seller := joined(7).Seller
		for range 3 {
			l.JoinRefused(here, seller, 7, at)
		}
		l.JoinRefused(here, "nobody", 7, at)
		l.WriteRefused(t.Context())
		require.Empty(t, refusedRows(t, l, seller), "the ledger does not have the place yet")
		later := room.Record{Type: "joined", At: 90, Ticket: 9, Seller: seller}
		b.write(1, joined(7), ended(7, room.Cancelled), later)
		require.NoError(t, l.Drain(t.Context(), here))
		l.WriteRefused(t.Context())
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":3}`}, refusedRows(t, l, seller), "not the place that is open now")

		at += 59 * time.Minute.Milliseconds()
		l.JoinRefused(here, seller, 7, at)
		l.WriteRefused(t.Context())
		require.Equal(t, []string{`7 {"times":4}`}, refusedRows(t, l, seller))
		at += time.Minute.Milliseconds()
		l.JoinRefused(here, seller, 7, at)
		l.JoinRefused(here, seller, 9, at)
		l.WriteRefused(t.Context())
		rows := []string{`7 {"times":4}`, `7 {"times":1}`, `9 {"times":1}`}
		require.Equal(t, rows, refusedRows(t, l, seller))
		require.Empty(t, refusedRows(t, l, "nobody"))

		l.JoinRefused(here, seller, 9, at)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		l.WriteRefused(gone)
		l.WriteRefused(t.Context())
		rows[2] = `9 {"times":2}`
		require.Equal(t, rows, refusedRows(t, l, seller), "what the database did not take is written later")
	})
}

func TestTimeOfRefusedJoinsOnlyGoesForward(t *testing.T) {
	b := newBench("sqlite:" + t.TempDir() + "/waitroom.db")
	one, other := b.open(t), b.open(t)
	b.write(1, joined(1))
	require.NoError(t, one.Drain(t.Context(), here))
	at := int64(1763686800000)
	one.JoinRefused(here, joined(1).Seller, 1, at+500)
	other.JoinRefused(here, joined(1).Seller, 1, at)
	one.WriteRefused(t.Context())
	other.WriteRefused(t.Context())
	require.Equal(t, []string{`1 {"times":2}`}, refusedRows(t, one, joined(1).Seller))
	var last int64
	scan(t, one, "SELECT at FROM timeline WHERE kind = 'refused'", &last)
	require.Equal(t, at+500, last)
}

func TestRefusedJoinsOfAnErasedPlaceAreOnNoTimeline(t *testing.T) {
	b := newBench("sqlite:" + t.TempDir() + "/waitroom.db")
	l := b.open(t)
	b.write(1, joined(1), ended(1, room.Forced))
	require.NoError(t, l.Drain(t.Context(), here))
	l.JoinRefused(here, "s-1", 1, 1763686800000)
	_, err := l.EraseSeller(t.Context(), "s-1", "erased-x")
	require.NoError(t, err)
	b.write(1, room.Record{Type: "joined", At: 30, Ticket: 2, Seller: "s-1"})
	require.NoError(t, l.Drain(t.Context(), here))
	l.WriteRefused(t.Context())
	require.Zero(t, count(t, l, "timeline WHERE kind = 'refused'"))
}

func TestRefusedJoinsOfOnlySoManyPlacesWaitToBeWritten(t *testing.T) {
	b := newBench("sqlite:" + t.TempDir() + "/waitroom.db")
	l := b.open(t)
	b.write(1, joined(1), joined(2))
	require.NoError(t, l.Drain(t.Context(), here))
	l.JoinRefused(here, joined(1).Seller, 1, 0)
	for n := range ledger.RefusedMost {
		l.JoinRefused(room.ID(fmt.Sprint("other-", n)), "s", 1, 0)
	}
	l.JoinRefused(here, joined(1).Seller, 1, 0)
	l.JoinRefused(here, joined(2).Seller, 2, 0)
	l.WriteRefused(t.Context())
	require.Equal(t, []string{`1 {"times":2}`}, refusedRows(t, l, joined(1).Seller))
	require.Empty(t, refusedRows(t, l, joined(2).Seller))
}
