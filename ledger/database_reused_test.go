package ledger_test

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger"
)

// reused is a PostgreSQL database that several tests use in turn.
type reused struct {
	url   string
	db    *sql.DB
	wipe  string // all that a test may have written
	shape string
	idle  []*connected
}

// connected is a replica's connection. It records queries once the database can explain them.
type connected struct {
	db *sqldb.DB
	of atomic.Pointer[bench] // the test that has it
}

func (c *connected) Now() time.Time              { return c.of.Load().now.Now() }
func (c *connected) Write(p []byte) (int, error) { return c.of.Load().log.Write(p) }

// take gives a replica a connection to the database, and returns the function that gives it back.
func (b *bench) take(t testing.TB, into *ledger.Config) (release func()) {
	t.Helper()
	r, c := b.reused, &connected{}
	if r == nil {
		var err error
		into.DB, err = b.database(t.Context())
		require.NoError(t, err)
		return func() { require.NoError(t, into.DB.Close()) }
	}
	if last := len(r.idle) - 1; last >= 0 {
		c, r.idle = r.idle[last], r.idle[:last]
	}
	c.of.Store(b)
	if c.db == nil {
		var err error
		c.db, err = b.databaseWith(t.Context(), c.Now, c)
		require.NoError(t, err)
	}
	into.DB = c.db
	return func() {
		if c.db.Stats() != (sqldb.Stats{}) || c.db.Away() != nil ||
			c.db.SQL().Stats().InUse > 0 { // it is not as new
			require.NoError(t, c.db.Close())
			return
		}
		r.idle = append(r.idle, c)
	}
}

const (
	// shapeQuery returns another text after a table, an index or a trigger was added or dropped.
	shapeQuery = `SELECT (SELECT COUNT(*) FROM pg_class) || ' ' || (SELECT COUNT(*) FROM pg_trigger)`
	tablesOf   = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'
		AND tablename <> 'goose_db_version' ORDER BY 1`
	// othersQuery ends the queries that a test has left running.
	othersQuery = `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`
)

func newReused(t *testing.T, url string) *reused {
	t.Helper()
	migrate(t, url)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	r := &reused{url: url, db: db}
	var wipe strings.Builder
	wipe.WriteString("BEGIN; SET LOCAL session_replication_role = replica;") // no trigger holds what is to stay
	for _, table := range column(t, db, tablesOf) {
		wipe.WriteString("DELETE FROM " + table + ";")
	}
	r.wipe = wipe.String() + `INSERT INTO retention (id) VALUES (1);
		SELECT setval(CAST(quote_ident(schemaname) || '.' || quote_ident(sequencename) AS regclass), start_value,
		false) FROM pg_sequences WHERE last_value IS NOT NULL AND sequencename NOT LIKE 'goose%'; COMMIT`
	r.shape = column(t, db, shapeQuery)[0]
	return r
}

// empty makes the database as new; it returns false if it cannot.
func (r *reused) empty(t *testing.T) bool {
	t.Helper()
	ctx := context.Background() // the test's own is over
	var shape string
	if err := r.db.QueryRowContext(ctx, shapeQuery).Scan(&shape); err != nil || shape != r.shape {
		for _, c := range r.idle {
			_ = c.db.Close()
		}
		_ = r.db.Close()
		return false
	}
	wait(t, func() bool {
		var others int
		return r.db.QueryRowContext(ctx, othersQuery).Scan(&others) == nil && others == 0
	})
	_, err := r.db.ExecContext(ctx, r.wipe)
	require.NoError(t, err)
	return true
}
