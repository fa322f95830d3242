package ledger

import (
	"fmt"
	"testing"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/plantest"
	"github.com/waitroom/waitroom/ledger/schema"
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
				[]*run{{work: w, next: []record{{recordKey: key,
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
	})
}
