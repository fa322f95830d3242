package sqldb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
)

func TestAWrongDatabaseURLStopsTheStartWithoutShowingIt(t *testing.T) {
	for _, url := range []string{"mysql://u:canary@h/d", "sqlite:", "sqlite::memory:",
		"postgres://u:canary@h:port/d", "canary"} {
		_, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
		require.ErrorContains(t, err, "DATABASE_URL", url)
		require.NotContains(t, err.Error(), "canary")
	}
}

func TestAWrongDatabaseURLsErrorNamesTheWrongPart(t *testing.T) {
	for url, reason := range map[string]string{
		"postgres://u:canary@h/d?sslmode=requird":           "sslmode is invalid",
		"postgres://u:canary@h/d?connect_timeout=soon":      `invalid connect_timeout`,
		"postgres://u:x@canary@h/d":                         "percent-encode",
		"postgres://u:12/canary@h/d":                        "percent-encode",
		"postgres://u:12/x?canary@h/d":                      "percent-encode",
		"postgres://u:canary@h:port/d":                      "invalid port",
		"postgres://u:canary%zz@h/d":                        "invalid percent-encoded token in password",
		"postgres://u@h/d?password=canary`: &sslmode=never": "sslmode is invalid",
	} {
		_, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
		require.ErrorContains(t, err, reason, url)
		require.ErrorContains(t, err, "postgres://user:password@host/database")
		require.NotContains(t, err.Error(), "canary")
	}
}

// The ledger has sellers' ids and what their messages were.
func TestSQLitesFilesAreReadByTheirOwnerAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waitroom.db")
	db, err := sqldb.Connect("sqlite:" + file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE t (a INTEGER)")
	require.NoError(t, err)
	files, err := filepath.Glob(file + "*")
	require.NoError(t, err)
	require.Len(t, files, 3, "with its log and its index")
	for _, name := range files {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}
