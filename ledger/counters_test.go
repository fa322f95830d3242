package ledger_test

import (
	"database/sql"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// counters are the metrics of all replicas of a bench. Each test ends with the check that they count every
// row that was written.
type counters struct {
	registries []prometheus.Gatherer
	open       int  // replicas
	loose      bool // the test writes rows itself, or has them written without counts
}

// join gives a replica a metrics registry if it has none.
func (c *counters) join(t testing.TB, into *ledger.Config) {
	t.Helper()
	if into.Registerer == nil {
		into.Registerer = prometheus.NewRegistry()
	}
	c.registries = append(c.registries, into.Registerer.(prometheus.Gatherer))
	c.open++
}

// leave compares, when the last replica ends, the sum of all counters with the rows of the tables.
func (c *counters) leave(t testing.TB, db *sql.DB) {
	t.Helper()
	if c.open--; c.open > 0 || c.loose || t.Failed() {
		return
	}
	counted, trimmed := c.sums(t)
	if trimmed {
		return
	}
	inTables := timelineRows(t, db)
	joined, places := counted["joined"], inTables["joined"]
	delete(counted, "joined")
	delete(inTables, "joined")
	require.Equal(t, inTables, counted, "tables and metrics differ")
	require.GreaterOrEqual(t, joined, places, "places that were not counted")
	require.LessOrEqual(t, joined-places, inTables["incident ticket_reused"],
		"a ticket given out twice is two places in one row")
}

// sums returns the counters' sums, less the corrections that were counted later.
func (c *counters) sums(t testing.TB) (sums map[string]int, trimmed bool) {
	t.Helper()
	sums = map[string]int{}
	add := func(of string, n int) {
		if sums[of] += n; sums[of] == 0 {
			delete(sums, of)
		}
	}
	for _, g := range c.registries {
		families, err := g.Gather()
		require.NoError(t, err)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				label, n := map[string]string{}, int(m.GetCounter().GetValue())
				for _, l := range m.GetLabel() {
					label[l.GetName()] = l.GetValue()
				}
				switch f.GetName() {
				case "waitroom_places_joined_total":
					add("joined", n)
				case "waitroom_leases_granted_total":
					add("granted", n)
				case "waitroom_places_ended_total":
					add("place "+label["outcome"], n)
				case "waitroom_leases_ended_total":
					add("lease "+label["outcome"], n)
				case "waitroom_places_corrected_total":
					add("place "+label["from"], -n)
					if label["to"] != "open" {
						add("place "+label["to"], n)
					}
				case "waitroom_leases_corrected_total":
					add("lease "+label["from"], -n)
					add("lease "+label["to"], n)
				case "waitroom_messages_total":
					add("message "+label["result"]+" "+label["reason"], n)
				case "waitroom_ledger_incidents_total":
					add("incident "+label["kind"], n)
				case "waitroom_ledger_trimmed_rows_total":
					trimmed = trimmed || n > 0
				}
			}
		}
	}
	return sums, trimmed
}

// timelineRows returns the same numbers, counted in the tables.
func timelineRows(t testing.TB, db *sql.DB) map[string]int {
	t.Helper()
	found := map[string]int{}
	rows, err := db.Query(`SELECT 'joined', COUNT(*) FROM places UNION ALL SELECT 'granted', COUNT(*) FROM leases
		UNION ALL SELECT 'place ' || outcome, COUNT(*) FROM places WHERE outcome IS NOT NULL GROUP BY outcome
		UNION ALL SELECT 'lease ' || outcome, COUNT(*) FROM leases WHERE outcome IS NOT NULL GROUP BY outcome
		UNION ALL SELECT 'message ' || result || ' ' || reason, COUNT(*) FROM messages WHERE state = 'judged'
		GROUP BY result, reason
		UNION ALL SELECT 'incident ' || kind, COUNT(*) FROM incidents GROUP BY kind`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var of string
		var n int
		require.NoError(t, rows.Scan(&of, &n))
		if n > 0 {
			found[of] = n
		}
	}
	require.NoError(t, rows.Err())
	return found
}

// The outcome of a lost place may be corrected after it was counted; the correction counts too.
func TestOutcomesThatArePutRightAreCountedAsThat(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2), joined(3))
		b.write(1, room.Record{Type: "ended", At: 15, Ticket: 3, Seller: "s-3", Outcome: room.Cancelled,
			EndedAt: 15})
		kept := []room.Kept{{Ticket: 3, Seller: "s-3"}} // the store lost its end; 1 and 2 are lost
		b.write(50, room.Record{Type: "epoch", At: 99, Kept: kept})
		b.write(50, retold(1, 1, room.Completed, 1000), retold(1, 9, room.Expired, 9000))
		b.write(50, joined(5), room.Record{Type: "joined", At: 130, Ticket: 5,
			Seller: "another"}) // the first one's place is lost
		b.write(50, room.Record{Type: "ended", At: 120, Ticket: 3, Seller: "s-3", Outcome: room.Dropped,
			EndedAt: 120})
		require.NoError(t, l.Drain(t.Context(), here))
		sums, _ := b.counters.sums(t)
		require.Equal(t, map[string]int{"joined": 6, "granted": 2, "place completed": 1, "place lost": 1,
			"place dropped": 1,
			"place expired": 1, "lease completed": 1, "lease expired": 1, "incident ticket_reused": 1}, sums)
	})
}
