// Package sqlitetest makes databases of SQLite's for tests.
package sqlitetest

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver
)

// ReadOnly returns the path of a database that no user, not even root, can write: its header requires a newer
// SQLite.
func ReadOnly(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "waitroom.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE t (n INT)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[18] = 3
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}
