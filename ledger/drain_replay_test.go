package ledger_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func retold(of, ticket int64, outcome room.Outcome, fence int64) room.Record {
	r := room.Record{Type: "told", At: 99, Of: of, Ticket: ticket, Seller: joined(ticket).Seller, JoinedAt: 5,
		Outcome: outcome, EndedAt: 98}
	if fence != 0 {
		r.Fence, r.GrantedAt, r.ExpiresAt = fence, 6, 126
	}
	return r
}

func TestPlacesThatALossLeftInTheLineGoOnInTheNewEpoch(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2), joined(3))
		b.write(1, room.Record{Type: "ended", At: 15, Ticket: 3, Seller: "s-3", Outcome: room.Cancelled,
			EndedAt: 15})
		kept := []room.Kept{{Ticket: 2, Seller: "s-2"}, {Ticket: 3, Seller: "s-3"}} // the end of 3 was lost
		b.write(50, room.Record{Type: "epoch", At: 99, Kept: kept})
		b.write(50, room.Record{Type: "ended", At: 120, Ticket: 2, Seller: "s-2", Outcome: room.Cancelled,
			EndedAt: 120})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1/1 lost", "50/2 cancelled", "50/3 open"}, column(t, l.DB(),
			`SELECT epoch || '/' || ticket || ' ' || COALESCE(outcome, 'open') FROM places ORDER BY epoch, ticket`))
		require.Equal(t, []string{"20"}, column(t, l.DB(), `SELECT joined_at FROM places WHERE epoch = 50
			AND ticket = 2`), "since when it waits")
	})
}

func TestWhatAReplicaObservedIsReplayedThoughTheStoreLostIt(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(50, retold(1, 2, room.Lost, 2000), retold(1, 3, room.Completed, 3000),
			retold(1, 1, room.Completed, 1000), room.Record{Type: "epoch", At: 99})
		b.write(50, retold(1, 2, room.Cancelled, 2000)) // another replica knew more
		b.write(50, retold(1, 3, room.Lost, 3000))      // and one less
		b.write(50, retold(1, 4, room.Lost, 0))
		b.write(50, retold(1, 4, room.Lost, 4000)) // another replica knew that it held the lock
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1 completed 1000", "2 cancelled 2000", "3 completed 3000", "4 lost 4000"},
			column(t, l.DB(),
				`SELECT ticket || ' ' || outcome || ' ' || fence FROM places ORDER BY ticket`))
		require.Equal(t, []string{"1000 completed", "2000 cancelled", "3000 completed", "4000 lost"},
			column(t, l.DB(),
				`SELECT fence || ' ' || outcome FROM leases ORDER BY fence`))
		require.Equal(t, 4, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"lock.ended\"%'"),
			"the integration gets each end once")
		require.Zero(t, count(t, l, "parked"))
	})
}

// The alert on lost data goes by this metric.
func TestPlacesThatALossEndedAreCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		registry := prometheus.NewRegistry()
		c := b.config()
		c.Registerer = registry
		l := b.openWith(t, c)
		b.write(1, joined(1), granted(1), joined(2), joined(3), joined(4))
		b.write(1, room.Record{Type: "ended", At: 15, Ticket: 3, Seller: "s-3", Outcome: room.Cancelled,
			EndedAt: 15})
		b.write(50, room.Record{Type: "epoch", At: 99, Kept: []room.Kept{{Ticket: 2, Seller: "s-2"}}},
			retold(1, 4, room.Expired, 0), retold(1, 9, room.Lost, 0))
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Drain(t.Context(), here))
		counted := map[string]float64{}
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "waitroom_places_ended_total" && m.GetCounter().GetValue() > 0 {
					counted[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		require.Equal(t, map[string]float64{"cancelled": 1, "lost": 3}, counted)
	})
}

func TestTicketGivenToTwoSellersIsAnIncident(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		other := retold(1, 1, room.Lost, 0)
		other.Seller = "other"
		b.write(1, joined(1))
		b.write(50, other, room.Record{Type: "epoch", At: 99})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"s-1 lost"}, column(t, l.DB(), `SELECT seller || ' ' || outcome FROM places`))
		require.Equal(t, []string{"ticket_reused"}, column(t, l.DB(), `SELECT kind FROM incidents`))
	})
}

func TestLedgerKnowsTheHighestFenceAndTicketOfARoom(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		found, err := l.Known(t.Context(), here)
		require.NoError(t, err)
		require.Equal(t, room.Recorded{}, found)
		b.write(1, joined(1), granted(1), joined(2))
		require.NoError(t, l.Drain(t.Context(), here))
		found, err = l.Known(t.Context(), here)
		require.NoError(t, err)
		require.Equal(t, room.Recorded{Fence: 1000, Ticket: 2, Open: true, Ended: granted(1).GrantedAt}, found)
	})
}

// The end of a lost lease is not known, so the ledger takes the beginning of the next one.
func TestLeaseThatWasLostIsOverWhenTheNextOneBegan(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2), granted(2)) // the end of the first is missing
		next := retold(1, 3, room.Lost, 3000)
		next.GrantedAt = 60
		b.write(50, room.Record{Type: "epoch", At: 99}, next, retold(1, 1, room.Completed, 1000))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1000 20 completed", "2000 60 lost", "3000 98 lost"}, column(t, l.DB(),
			`SELECT fence || ' ' || ended_at || ' ' || outcome FROM leases ORDER BY fence`))
	})
}

func TestPlaceThatWasSettledIsNotWrittenAgainUnderALaterEpoch(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), ended(1, room.Completed))
		b.write(50, retold(50, 1, room.Lost, 1000), room.Record{Type: "epoch", At: 99})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1/1 completed"}, column(t, l.DB(), `SELECT epoch || '/' || ticket || ' ' ||
			outcome FROM places`))
	})
}

func TestLedgerKnowsHowPlacesEndedUnlessTheyWereLost(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2), joined(3), ended(1, room.Completed), joined(4))
		b.write(50, room.Record{Type: "epoch", At: 99}) // 2 to 4 are lost
		require.NoError(t, l.Drain(t.Context(), here))
		asked := []room.PlaceID{{Epoch: 1, Ticket: 1}, {Epoch: 1, Ticket: 2}, {Epoch: 2, Ticket: 1},
			{Epoch: 1, Ticket: 9}}
		found, err := l.Ended(t.Context(), here, asked)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, asked[0], found[0].PlaceID)
		require.Equal(t, [3]any{"s-1", room.Completed, int64(1000)},
			[3]any{found[0].Seller, found[0].Outcome, found[0].Fence})
		require.NotZero(t, found[0].EndedAt)
		found, err = l.Ended(t.Context(), "another", asked)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// Redis lost an entry that was drained, and gave its id to another one, since the new master's clock was
// behind the old one's.
func TestEntryThatGotTheIdOfOneTheStoreLostIsAppliedOnceToo(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		entry := room.Entry{ID: "1763689000000-77", Epoch: 1,
			Records: []room.Record{{Type: "incident", At: 5, Action: "carrier_clock"}}}
		b.journal.add(here, entry)
		require.NoError(t, l.Drain(t.Context(), here))
		entry.Records = []room.Record{ended(1, room.Expired), granted(2)}
		b.journal.failTrim = func() bool { return true }
		b.journal.add(here, entry)
		for range 2 {
			require.ErrorIs(t, l.Drain(t.Context(), here), errLost)
		}
		require.Equal(t, []string{"1 expired", "2 -"}, column(t, l.DB(), `SELECT ticket || ' ' || COALESCE(outcome,
			'-') FROM places ORDER BY ticket`))
		require.Equal(t, []string{"incident 0", "ended 1", "granted 2"}, column(t, l.DB(),
			`SELECT kind || ' ' || ticket FROM timeline WHERE entry >= '1763689000000-77'
				AND entry < '1763689000000-78' ORDER BY entry, n`))
		require.Equal(t, 1, count(t, l, "leases WHERE ticket = 2"))
	})
}
