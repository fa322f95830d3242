package sqldb_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// One more row fits on a full disk, and a larger one does not. The database is away once, until there is room.
func TestFullDiskIsAwayUntilItHasRoom(t *testing.T) {
	var log testproc.Log
	now := time.Now()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"),
		Migrations: migrations(), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SQL().SetMaxOpenConns(1) // the disk's size is a setting of a connection
	disk := func(pages int) {
		t.Helper()
		_, err := db.SQL().Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
		require.NoError(t, err)
	}
	n := 0
	write := func() error {
		now = now.Add(time.Minute)
		n++
		return db.Write(t.Context(), func(s sqldb.Session) error {
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, 1)`,
				fmt.Sprint(n, strings.Repeat("x", 100_000)))
			return err
		})
	}
	require.NoError(t, write())
	disk(1) // as many as there are
	for range 5 {
		require.Equal(t, "make room on its disk", sqldb.FileRemedy(write()))
		require.ErrorIs(t, db.Read(t.Context(), func(sqldb.Session) error { return nil }), sqldb.ErrAway)
	}
	require.Equal(t, 1, strings.Count(log.String(), "database is away"), log.String())
	require.NotContains(t, log.String(), "database is back")
	disk(1 << 20)
	require.NoError(t, write())
	require.Equal(t, 1, strings.Count(log.String(), "database is back"))
	require.Zero(t, number(t, db, `SELECT COUNT(*) FROM sqlite_master WHERE name LIKE '%room_on_disk'`))
}

func TestErrorWithoutACodeIsNotTemporary(t *testing.T) {
	for code, temporary := range map[string]bool{"": false, "5": false, "57P03": true, "28P01": false} {
		require.Equal(t, temporary, sqldb.Temporary(&pgconn.PgError{Code: code}), code)
	}
}

func TestFileThatIsNoDatabaseOrCannotBeMadeStopsTheStartWithItsRemedy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600))
	for path, want := range map[string]string{
		file:           file + " can not be written: it is no SQLite database: name another path, or move that file away",
		file + "/x/db": "no directory can be made for " + file + "/x/db: give the user",
	} {
		_, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + path, Migrations: migrations()})
		require.ErrorContains(t, err, "DATABASE_URL: "+want)
	}
}

func TestFileBehindALinkIsMadeWithItsDirectoryAndForItsUserAlone(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "new", "waitroom.db")
	require.NoError(t, os.Symlink("new/waitroom.db", link))
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + link, Migrations: migrations()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
