package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// joinedAs returns the record of a seller's join.
func joinedAs(ticket int64, seller string) room.Record {
	return room.Record{Type: "joined", At: ticket * 10, Ticket: ticket, Seller: seller}
}

func idsOf(f read.FoundSellers) (ids []string) {
	for _, s := range f.List {
		ids = append(ids, s.Seller)
	}
	return ids
}

func TestSellersAreFoundByAPieceOfTheirIDs(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for i, seller := range []string{"Store-12", "store-120", "STORE.121", "my-store-12", "가게-33", "other",
			"100%", "x_y"} {
			b.write(1, joinedAs(int64(i+1), seller))
		}
		b.journal.write("far", 1, joinedAs(1, "other"))
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Drain(t.Context(), "far"))
		b.write(1, joinedAs(9, "store-129")) // not drained yet
		for _, c := range []struct {
			text        string
			want        string
			exact, near bool
		}{
			{"store 12", "Store-12 store-129 STORE.121 store-120 my-store-12", true, false},
			{"ＳＴＯＲＥ12", "Store-12 store-129 STORE.121 store-120 my-store-12", true, false},
			{"store-129", "store-129", true, false},
			{"store-120", "store-120", true, false},
			{"my", "my-store-12", false, false},
			{"가게33", "가게-33", true, false},
			{"가계33", "가게-33", false, true},
			{"sotre-120", "STORE.121 store-120 store-129 Store-12", false, true},
			{"100%", "100%", true, false},
			{"%", "100%", false, false},
			{"zz", "", false, false},
			{"othre", "other", false, true},
			{"", "", false, false},
		} {
			found, err := l.FindSellers(t.Context(), c.text, []room.ID{here})
			require.NoError(t, err)
			require.ElementsMatch(t, strings.Fields(c.want), idsOf(found), c.text)
			require.Equal(t, []bool{c.exact, c.near, false}, []bool{found.Exact, found.Near, found.More}, c.text)
			if c.exact {
				require.Equal(t, strings.Fields(c.want)[0], found.List[0].Seller, "the id itself comes first")
			}
		}
		found, err := l.FindSellers(t.Context(), "other", nil)
		require.NoError(t, err)
		require.Equal(t, []read.FoundSeller{{Seller: "other", Room: here, At: 60}}, found.List,
			"where something happened to it last")
	})
}

func TestASearchThatFindsManySaysThatThereAreMore(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for ticket := range int64(30) {
			b.write(1, joined(ticket+1))
		}
		require.NoError(t, l.Drain(t.Context(), here))
		found, err := l.FindSellers(t.Context(), "s", nil)
		require.NoError(t, err)
		require.Len(t, found.List, 20)
		require.True(t, found.More)
	})
}

func TestASearchWithoutTheDatabaseFindsSellersInTheJournals(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	l := b.open(t)
	b.write(1, joined(1))
	require.NoError(t, l.Drain(t.Context(), here))
	pg.Stop()
	b.write(1, joined(2))
	for range 2 { // the first call notices the outage, the second fails at once
		found, err := l.FindSellers(t.Context(), "s-", []room.ID{here})
		require.ErrorIs(t, err, sqldb.ErrAway)
		require.Equal(t, []string{"s-2"}, idsOf(found))
	}
	pg.Start()
	b.now.Move(time.Second)
	found, err := l.FindSellers(t.Context(), "s-", []room.ID{here})
	require.NoError(t, err)
	require.Equal(t, []string{"s-2", "s-1"}, idsOf(found))
}

func TestASearchWithoutAJournalFindsTheRest(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := b.config()
		c.Journal = mute{b.journal}
		l := b.openWith(t, c)
		b.write(1, joined(1))
		require.NoError(t, l.Drain(t.Context(), here))
		found, err := l.FindSellers(t.Context(), "s-1", []room.ID{"other"})
		require.ErrorIs(t, err, room.ErrStore)
		require.Equal(t, []string{"s-1"}, idsOf(found))
	})
}
