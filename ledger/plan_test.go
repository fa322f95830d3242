package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/plantest"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// questions are the queries of the drain for a room of that database.
func questions(filled int64) map[string]func(*work) error {
	now, one := filled*10_000, filled-40 // one that was there not long ago, and its seller
	seller := fmt.Sprint("s", one%900)
	given := room.Record{Type: assigned, MessageNote: room.MessageNote{MessageID: fmt.Sprint("m", one)},
		Fence: one, Result: room.Late,
		GrantedAt: one * 10_000, EndedAt: one*10_000 + 5000}
	key := recordKey{1, fmt.Sprint(one, "-0"), 0}
	return map[string]func(*work) error{
		"an objection": func(w *work) error { _, err := w.objectionToGiven(given); return err },
		"what is known of matches": func(w *work) error {
			_, err := w.factsOf([]room.Record{given, given})
			return err
		},
		"places and leases": func(w *work) error {
			return load(w.Session,
				[]*run{{work: w, records: []record{{recordKey: key,
					Record: room.Record{Type: "granted", Ticket: one, Fence: one}}}}})
		},
		"what is there of entries": func(w *work) error {
			return markApplied(w.Session, []*run{{work: w, records: []record{{recordKey: key}}}})
		},
		"what goes on in a new epoch": func(w *work) error {
			return w.carryOver(1,
				room.Kept{Ticket: one, Seller: seller}, now)
		},
		"what was observed of a place": func(w *work) error {
			of, err := w.replayPlace(room.Record{Of: 9, Ticket: one, Seller: seller, Outcome: room.Lost, EndedAt: now})
			if err == nil && of != 1 {
				err = fmt.Errorf("found in epoch %d", of)
			}
			return err
		},
		"a live objection": func(w *work) error {
			g := given
			g.Result = room.Matched
			_, err := w.objectionToGiven(g)
			return err
		},
		"what was attributed": func(w *work) error { _, _, err := w.findAttribution(given); return err },
	}
}

func TestNoQuestionOfTheDrainReadsAWholeTable(t *testing.T) {
	plantest.OnEach(t, schema.Migrations(), func(t *testing.T, db *plantest.Database) {
		asked := make(map[string]func(sqldb.Session) error)
		for name, ask := range questions(plantest.Filled[db.Dialect]) {
			asked[name] = func(s sqldb.Session) error { return ask(&work{Session: s, id: plantest.Room}) }
		}
		plantest.RequireNoScan(t, db, asked)
		t.Run("nor does a step of the trim", func(t *testing.T) { trimPlans(t, db) })
	})
}

// trimPlans explains the statements of the trim. It runs last, since it deletes rows.
func trimPlans(t *testing.T, db *plantest.Database) {
	db.Plans = nil
	w := &work{Session: db.Session(t.Context()), id: plantest.Room}
	_, err := w.ages(20)
	require.NoError(t, err)
	for _, line := range db.Plans { // an index has them in order, where they are many, and so many are read
		require.NotRegexp(t, `Seq Scan|^SCAN|Sort .*rows=\d{3}|TEMP B-TREE`, line)
	}
	db.Plans = nil
	gone, err := w.trim(20*50*10_000, 4*20) // twenty rows of each
	require.NoError(t, err)
	for _, table := range []string{"leases", "places", "verifications", "messages", "attributions", "actions",
		"incidents"} {
		require.NotZero(t, gone[table], table)
	}
	_, err = outbox.Trim(t.Context(), db, db.Dialect, 1, 10, outbox.Finished)
	require.NoError(t, err)
	var next string
	require.NoError(t, w.Row(nextRoomQuery, plantest.Room).Scan(&next))
	if testing.Verbose() {
		t.Logf("%s", strings.Join(db.Plans, "\n"))
	}
	require.Empty(t, slices.DeleteFunc(db.Scans(), func(line string) bool {
		return strings.Contains(line, "parked") || strings.HasPrefix(line, "SCAN q") ||
			strings.Contains(line, "outbox_tasks") // few; the rows of a subquery; none
	}), strings.Join(db.Plans, "\n"))
}
