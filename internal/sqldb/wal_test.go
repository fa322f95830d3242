package sqldb_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// While a reader reads an old state, SQLite's log only grows.
func TestLogThatGrewBesideALongReaderIsCutAfterwards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "waitroom.db")
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + path, Migrations: migrations(),
		Log: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	write := func(rows int) {
		require.NoError(t, db.Write(t.Context(), func(s sqldb.Session) error {
			for range rows {
				if _, err := s.Exec(`INSERT INTO counters (name, n) VALUES (hex(randomblob(16)) || $1, 1)`,
					strings.Repeat("x", 100_000)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	size := func() int64 {
		file, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		return file.Size()
	}
	write(1)
	reader, err := db.SQL().Conn(t.Context())
	require.NoError(t, err)
	for _, statement := range []string{`BEGIN DEFERRED`, `SELECT COUNT(*) FROM counters`} {
		_, err := reader.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	write(500)
	require.Greater(t, size(), int64(40<<20))
	_, err = reader.ExecContext(t.Context(), `ROLLBACK`)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	write(1) // its checkpoint empties the log
	write(1) // the log begins anew
	require.LessOrEqual(t, size(), int64(32<<20))
}
