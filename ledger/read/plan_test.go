package read

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/plantest"
	"github.com/waitroom/waitroom/ledger/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// questions are the queries of the desk and the reports for a room of that database.
func questions(filled int64) map[string]func(*work) error {
	now := filled * 10_000
	page := func(f AuditFilter) func(*work) error {
		return func(w *work) error {
			f.Limit = 10
			_, keys, err := w.audit(f, nil)
			if err == nil {
				_, _, err = w.audit(f, &keys[5])
			}
			return err
		}
	}
	story := func(s Story) func(*work) error {
		return func(w *work) error {
			s.Limit = 100
			rows, err := w.story(s)
			if err == nil && len(rows) == 0 {
				err = fmt.Errorf("no story of %s", s.Seller)
			}
			return err
		}
	}
	history := func(n int) func(*work) error {
		return func(w *work) error {
			f := Filter{Seller: "s10", Limit: 10}
			rows, err := w.history(n, kinds[n], f, nil)
			if err == nil && len(rows) < 6 {
				err = fmt.Errorf("only %d rows", len(rows))
			}
			if err == nil {
				_, err = w.history(n, kinds[n], f, &rows[5].position)
			}
			return err
		}
	}
	return map[string]func(*work) error{
		"minutes":            func(w *work) error { return w.minutes(newSeries(now-3*minute, now+minute, false)) },
		"minutes with depth": func(w *work) error { return w.minutes(newSeries(now-3*minute, now+minute, true)) },
		"report": func(w *work) error {
			days, spans := newDays(1), []ReportSpan{{Begins: now - 60*minute, Ends: now - 3*minute, Hour: -1}}
			for _, f := range figures {
				if err := w.figure(f, spans, days, nil); err != nil {
					return err
				}
			}
			days[0].finish()
			if days[0].Joined == 0 || days[0].HoldP50 == 0 || days[0].Ambiguous != 0 {
				return fmt.Errorf("the day is %v", days[0])
			}
			return nil
		},
		"pace": func(w *work) error {
			p, err := w.pace(now, 2*time.Minute)
			if err == nil && p.Hold != 5*time.Second {
				err = fmt.Errorf("leases were held for %s", p.Hold)
			}
			return err
		},
		"lost messages": func(w *work) error {
			list, err := w.lost(now-60*minute, 10)
			if err == nil && len(list) == 0 {
				err = fmt.Errorf("none is lost")
			}
			return err
		},
		"incidents":           func(w *work) error { _, err := w.incidents(now-60*minute, 10); return err },
		"audit":               page(AuditFilter{}),
		"audit of an action":  page(AuditFilter{Action: "pause", From: 1}),
		"last pause":          func(w *work) error { _, err := w.pauses(); return err },
		"audit of a time":     page(AuditFilter{From: now - minute, To: now}),
		"audit of somebody":   page(AuditFilter{Who: "w10"}),
		"audit of a room":     page(AuditFilter{Room: "r10"}),
		"audit of all these":  page(AuditFilter{Room: "r10", Who: "w10", From: 1, To: now}),
		"story":               story(Story{Seller: "s10"}),
		"story in a room":     story(Story{Seller: "s10", Room: "r10"}),
		"a seller's leases":   history(0),
		"a seller's places":   history(1),
		"a seller's messages": history(2),
		"a seller's actions":  history(3),
	}
}

func TestNoQuestionOfTheDeskReadsAWholeTable(t *testing.T) {
	plantest.OnEach(t, schema.Migrations(), func(t *testing.T, db *plantest.Database) {
		asked := make(map[string]func(sqldb.Session) error)
		for name, ask := range questions(plantest.Filled[db.Dialect]) {
			asked[name] = func(s sqldb.Session) error { return ask(&work{s, plantest.Room}) }
		}
		plantest.RequireNoScan(t, db, asked)
	})
}
