package sqldb_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// An open file can be written after another one has its name, and its rows would be lost with the process.
func TestDatabaseWhoseFileIsGoneOrAnotherOneIsAway(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string){
		"gone": func(*testing.T, string) {},
		"another one": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log testproc.Log
			var minutes atomic.Int64
			path := filepath.Join(t.TempDir(), "waitroom.db")
			db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + path, Migrations: migrations(),
				Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time {
					return time.Unix(0, 0).Add(time.Duration(minutes.Load()) * time.Minute)
				}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			write := func() error {
				n := minutes.Add(1)
				return db.Write(t.Context(), func(s sqldb.Session) error {
					_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, 1)`, fmt.Sprint(n))
					return err
				})
			}
			require.NoError(t, write())
			require.NoError(t, os.Rename(path, path+".away"))
			replace(t, path)
			require.Eventually(t, func() bool { // also if nothing is written
				_, err := db.State()
				return err != nil
			}, time.Minute, time.Millisecond)
			for range 3 {
				require.ErrorContains(t, write(), "the file that was opened is no longer there")
			}
			require.Equal(t, 1, strings.Count(log.String(), "database is away"), log.String())
			require.NoError(t, os.Rename(path+".away", path))
			require.NoError(t, write())
			require.Equal(t, 2, number(t, db, `SELECT COUNT(*) FROM counters`))
		})
	}
}
