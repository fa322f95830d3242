package ledger_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger/schema"
)

// made are empty databases with all tables, since creating one takes longer than most tests. Each test gets a
// copy of the SQLite file; a PostgreSQL database is emptied after each test.
var made struct {
	sync.Mutex
	sqlite   []byte
	postgres []*reused
}

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newBench(sqliteURL(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t)) })
}

// onEmpty is onBoth with databases that have not been migrated.
func onEmpty(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, newBench("sqlite:"+filepath.Join(t.TempDir(), "made for it", "waitroom.db")))
	})
	t.Run("postgres", func(t *testing.T) { test(t, newBench(pgtest.Start(t).URL())) })
}

func sqliteURL(t *testing.T) string {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	if made.sqlite == nil {
		path := filepath.Join(t.TempDir(), "migrated.db")
		migrate(t, "sqlite:"+path)
		var err error
		made.sqlite, err = os.ReadFile(path)
		require.NoError(t, err)
	}
	path := filepath.Join(t.TempDir(), "waitroom.db")
	require.NoError(t, os.WriteFile(path, made.sqlite, 0o600))
	return "sqlite:" + path
}

// patience are connection settings with which neither the driver nor the server gives up on a busy machine.
const patience = "&connect_timeout=60&idle_in_transaction_session_timeout=60s"

func onPostgres(t *testing.T) *bench {
	t.Helper()
	server := pgtest.Start(t)
	made.Lock()
	defer made.Unlock()
	var r *reused
	if last := len(made.postgres) - 1; last >= 0 {
		r, made.postgres = made.postgres[last], made.postgres[:last]
	} else {
		r = newReused(t, server.URL()+patience)
	}
	t.Cleanup(func() {
		if !r.empty(t) {
			return
		}
		made.Lock()
		defer made.Unlock()
		made.postgres = append(made.postgres, r)
	})
	b := newBench(r.url)
	b.reused = r
	return b
}

func migrate(t *testing.T, url string) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Migrations: schema.Migrations()})
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
