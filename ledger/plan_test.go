package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// explained is a database that returns its query plans.
type explained struct {
	*sql.DB
	dialect dialect.Dialect
	plans   []string
}

func (e *explained) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := e.explain(ctx, query, args...); err != nil {
		return nil, err
	}
	return e.DB.QueryContext(ctx, query, args...)
}

func (e *explained) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := e.explain(ctx, query, args...); err != nil {
		return nil, err
	}
	return e.DB.ExecContext(ctx, query, args...)
}

func (e *explained) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := e.explain(ctx, query, args...); err != nil {
		e.plans = append(e.plans, "SCAN: "+err.Error())
	}
	return e.DB.QueryRowContext(ctx, query, args...)
}

func (e *explained) explain(ctx context.Context, query string, args ...any) error {
	how, into := "EXPLAIN QUERY PLAN ", []any{new(int), new(int), new(int)}
	if e.dialect == dialect.Postgres {
		how, into = "EXPLAIN ", nil
	}
	rows, err := e.DB.QueryContext(ctx, how+query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(append(into, &line)...); err != nil {
			return err
		}
		e.plans = append(e.plans, line)
	}
	return rows.Err()
}

// wholeRoom matches plans that read all of a room's rows in an index. Open rows are as few as the sellers
// present.
var wholeRoom = regexp.MustCompile(`\(room=\?\)|Index Cond: \(room = '[^']*'::text\)$`)

// given matches a scan of a statement's own parameter rows, which it calls v, or q if v is another table.
var given = regexp.MustCompile(`^SCAN (v|q|CONSTANT ROW|\d+ CONSTANT ROWS)$`)

// scans returns the lines of plans that read a whole table or index, or all of a room. Parameter rows do not
// count.
func (e *explained) scans() (list []string) {
	before := ""
	for _, line := range e.plans {
		marks := strings.Contains(before+line, "high_water") || strings.Contains(before+line, "audit_chains") ||
			strings.HasPrefix(line, "SEARCH h ") || strings.HasPrefix(line, "SEARCH c ") // one row of a room each
		before = line
		if strings.Contains(line, "Seq Scan") || strings.HasPrefix(line, "SCAN") && !given.MatchString(line) ||
			wholeRoom.MatchString(line) && !strings.Contains(line, "_open ") && !marks {
			list = append(list, line)
		}
	}
	return list
}

// filled is the number of rows of each table. PostgreSQL's planner depends on it and reads small tables
// whole; SQLite's does not.
var filled = map[dialect.Dialect]int64{dialect.SQLite: 6000, dialect.Postgres: 20_000}

// fill are statements that insert what many rooms write in a while. In each, i counts the rows, and the last
// hundred places are open.
var fill = []string{
	`places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
		SELECT 'r' || (i % 50), 1, i, 's' || (i % 900), i * 10000, CASE WHEN i < most - 100 THEN i * 10000 + 5000
		END, CASE WHEN i < most - 100 THEN 'completed' END, i FROM n, m`,
	`leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
		SELECT 'r' || (i % 50), i, 1, i, 's' || (i % 900), i * 10000, i * 10000 + 9999, i * 10000 + 5000,
		'completed' FROM n`,
	`timeline (room, epoch, entry, n, at, kind, ticket, seller) SELECT 'r' || (i % 50), 1, i || '-0', 0,
		i * 10000, 'joined', i, 's' || (i % 900) FROM n`,
	`messages (room, message_id, state, sender, body, sent_at, received_at, result, seller, now_by, now_result,
		now_seller)
		SELECT 'r' || (i % 50), 'm' || i, 'judged', '', '', i * 10000, i * 10000,
		CASE WHEN i % 10 = 0 THEN 'unmatched' ELSE 'matched' END,
			's' || (i % 900), CASE WHEN i % 7 = 0 THEN 'claimed' END, CASE WHEN i % 7 = 0 THEN 'matched' END,
			CASE WHEN i % 7 = 0 THEN 's' || (i % 300) END FROM n`,
	`attributions (room, message_id, kind, fence, epoch, ticket, seller, verdict, at)
		SELECT 'r' || (i % 50), 'm' || i, CASE WHEN i % 3 = 0 THEN 'rejected' ELSE 'claimed' END, i, 1, i, '',
		'agreed', i * 10000 FROM n`,
	`verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at)
		SELECT 'r' || (i % 50), i, 1, i, 'm' || i, i * 10000, i * 10000 + 5000 FROM n WHERE i < 3000`,
	`actions (room, epoch, entry, n, at, who, action, reason, seller, seq, salt)
		SELECT 'r' || (i % 50), 1, i || '-0', 0, i * 10000, 'w' || (i % 70),
		CASE WHEN i % 5 = 0 THEN 'pause' ELSE 'move' END, '', 's' || (i % 900), i / 50 + 1, 'salt' FROM n`,
	`audit_chains (room, first, seq, hash) SELECT 'r' || i, 1, 1, '' FROM n WHERE i < 3000`,
	`high_water (room, fence) SELECT 'q' || i, i FROM n WHERE i < 3000`,
	`incidents (room, kind, subject, epoch, ticket, fence, detail, at)
		SELECT 'r' || (i % 50), 'match_refused', 'm' || i, 1, i, i, '', i * 10000 FROM n`,
}

func busyDatabase(t *testing.T, url string) *explained {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Migrations: schema.Migrations()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	most := fmt.Sprint(filled[db.Dialect()])
	for _, rows := range fill {
		_, err := db.SQL().Exec(`WITH RECURSIVE m(most) AS (SELECT
			` + most + `), n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + most + `) INSERT INTO ` +
			rows)
		require.NoError(t, err, rows)
	}
	if db.Dialect() == dialect.Postgres { // which does so by itself after a while
		_, err := db.SQL().Exec(`ANALYZE`)
		require.NoError(t, err)
	}
	return &explained{DB: db.SQL(), dialect: db.Dialect()}
}

// questions are the queries of the desk and the drain for a room of that database.
func questions(filled int64) map[string]func(*work) error {
	now, one := filled*10_000, filled-40 // one that was there not long ago, and its seller
	seller := fmt.Sprint("s", one%900)
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
	given := room.Record{Type: assigned, MessageNote: room.MessageNote{MessageID: fmt.Sprint("m", one)},
		Fence: one, Result: room.Late,
		GrantedAt: one * 10_000, EndedAt: one*10_000 + 5000}
	key := recordKey{1, fmt.Sprint(one, "-0"), 0}
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
		"an objection":        func(w *work) error { _, err := w.objectionToGiven(given); return err },
		"what is known of matches": func(w *work) error {
			_, err := w.factsOf([]room.Record{given, given})
			return err
		},
		"places and leases": func(w *work) error {
			return read(w.Session,
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

func TestNoQuestionOfTheDeskReadsAWholeTable(t *testing.T) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db") },
		"postgres": func(t *testing.T) string { return pgtest.Start(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			db := busyDatabase(t, url(t))
			for name, ask := range questions(filled[db.dialect]) {
				db.plans = nil
				require.NoError(t, ask(&work{Session: sqldb.Session{Querier: db, Ctx: t.Context(), Dialect: db.dialect},
					id: "r10"}), name)
				require.NotEmpty(t, db.plans, name)
				require.Empty(t, db.scans(), "%s:\n%s", name, strings.Join(db.plans, "\n"))
				if testing.Verbose() {
					t.Logf("%s:\n%s", name, strings.Join(db.plans, "\n"))
				}
			}
			t.Run("nor does a step of the trim", func(t *testing.T) { trimPlans(t, db) })
		})
	}
}

// trimPlans explains the statements of the trim. It runs last, since it deletes rows.
func trimPlans(t *testing.T, db *explained) {
	db.plans = nil
	w := &work{Session: sqldb.Session{Querier: db, Ctx: t.Context(), Dialect: db.dialect}, id: "r10"}
	_, err := w.ages(20)
	require.NoError(t, err)
	for _, line := range db.plans { // an index has them in order, where they are many, and so many are read
		require.NotRegexp(t, `Seq Scan|^SCAN|Sort .*rows=\d{3}|TEMP B-TREE`, line)
	}
	db.plans = nil
	gone, err := w.trim(20*50*10_000, 4*20) // twenty rows of each
	require.NoError(t, err)
	for _, table := range []string{"leases", "places", "verifications", "messages", "attributions", "actions",
		"incidents"} {
		require.NotZero(t, gone[table], table)
	}
	_, err = outbox.Trim(t.Context(), db, db.dialect, 1, 10, outbox.Finished)
	require.NoError(t, err)
	var next string
	require.NoError(t, w.Row(nextRoomQuery, "r10").Scan(&next))
	if testing.Verbose() {
		t.Logf("%s", strings.Join(db.plans, "\n"))
	}
	require.Empty(t, slices.DeleteFunc(db.scans(), func(line string) bool {
		return strings.Contains(line, "parked") || strings.HasPrefix(line, "SCAN q") ||
			strings.Contains(line, "outbox_tasks") // few; the rows of a subquery; none
	}), strings.Join(db.plans, "\n"))
}
