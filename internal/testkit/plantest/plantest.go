// Package plantest explains the statements that a test runs on a database of the ledger's.
package plantest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

// Database returns its query plans.
type Database struct {
	*sql.DB
	Dialect dialect.Dialect
	Plans   []string
}

func (e *Database) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := e.explain(ctx, query, args...); err != nil {
		return nil, err
	}
	return e.DB.QueryContext(ctx, query, args...)
}

func (e *Database) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := e.explain(ctx, query, args...); err != nil {
		return nil, err
	}
	return e.DB.ExecContext(ctx, query, args...)
}

func (e *Database) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := e.explain(ctx, query, args...); err != nil {
		e.Plans = append(e.Plans, "SCAN: "+err.Error())
	}
	return e.DB.QueryRowContext(ctx, query, args...)
}

func (e *Database) explain(ctx context.Context, query string, args ...any) error {
	how, into := "EXPLAIN QUERY PLAN ", []any{new(int), new(int), new(int)}
	if e.Dialect == dialect.Postgres {
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
		e.Plans = append(e.Plans, line)
	}
	return rows.Err()
}

// wholeRoom matches plans that read all of a room's rows in an index. Open rows are as few as the sellers
// present.
var wholeRoom = regexp.MustCompile(`\(room=\?\)|Index Cond: \(room = '[^']*'::text\)$`)

// given matches a scan of a statement's own parameter rows, which it calls v, or q if v is another table.
var given = regexp.MustCompile(`^SCAN (v|q|CONSTANT ROW|\d+ CONSTANT ROWS)$`)

// Scans returns the lines of plans that read a whole table or index, or all of a room. Parameter rows do not
// count.
func (e *Database) Scans() (list []string) {
	before := ""
	for _, line := range e.Plans {
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

// Filled is the number of rows of each table. PostgreSQL's planner depends on it and reads small tables
// whole; SQLite's does not.
var Filled = map[dialect.Dialect]int64{dialect.SQLite: 6000, dialect.Postgres: 20_000}

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

// Room is one of many rooms that the tables have.
const Room = "r10"

// OnEach runs a test on a filled database of each kind.
func OnEach(t *testing.T, migrations sqldb.Migrations, test func(*testing.T, *Database)) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db") },
		"postgres": func(t *testing.T) string { return pgtest.Start(t).URL() },
	} {
		t.Run(name, func(t *testing.T) { test(t, busy(t, url(t), migrations)) })
	}
}

// Session explains what runs in it.
func (e *Database) Session(ctx context.Context) sqldb.Session {
	return sqldb.Session{Querier: e, Ctx: ctx, Dialect: e.Dialect}
}

// RequireNoScan asks questions, of which none may read a whole table.
func RequireNoScan(t *testing.T, db *Database, questions map[string]func(sqldb.Session) error) {
	for name, ask := range questions {
		db.Plans = nil
		require.NoError(t, ask(db.Session(t.Context())), name)
		require.NotEmpty(t, db.Plans, name)
		require.Empty(t, db.Scans(), "%s:\n%s", name, strings.Join(db.Plans, "\n"))
		if testing.Verbose() {
			t.Logf("%s:\n%s", name, strings.Join(db.Plans, "\n"))
		}
	}
}

func busy(t *testing.T, url string, migrations sqldb.Migrations) *Database {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Migrations: migrations})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	most := fmt.Sprint(Filled[db.Dialect()])
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
	return &Database{DB: db.SQL(), Dialect: db.Dialect()}
}
