package server

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

// After a rollback the database stays as the later version made it.
func TestAServerStartsOnALedgerThatALaterVersionMigrated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waitroom.db")
	postgres := pgtest.Start(t).URL()
	for _, ledger := range []struct {
		driver, source,
		url string
	}{{"sqlite", "file:" + file + "?_pragma=busy_timeout(5000)", "sqlite:" + file},
		{"pgx", postgres, postgres}} {
		first := start(t, config(t, "--database-url", ledger.url))
		require.NoError(t, first.stop(t))
		db, err := sql.Open(ledger.driver, ledger.source)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES "+
			"(99, TRUE)")
		require.NoError(t, err)
		require.NoError(t, db.Close())
		a := newSeller(t, start(t, config(t, "--database-url", ledger.url)).URL(), "a")
		require.Equal(t, http.StatusOK, a.join().StatusCode)
		require.Equal(t, "ok", readiness(t, a, http.StatusOK)["ledger"])
	}
}
