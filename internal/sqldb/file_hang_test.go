package sqldb

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestWriteDoesNotWaitForALookAtTheFile(t *testing.T) {
	db, err := Open(t.Context(), Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"),
		Migrations: Migrations{Files: fstest.MapFS{"sqlite/00001_counters.sql": {Data: []byte(
			"-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY, n INTEGER);\n")}}}})
	require.NoError(t, err)
	hangs, looked := make(chan struct{}), make(chan struct{}, 10)
	db.file.stat = func(string) (fs.FileInfo, error) {
		looked <- struct{}{}
		<-hangs
		return nil, fs.ErrNotExist
	}
	db.file.begun.Store(nil)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, db.Write(t.Context(), func(s Session) error {
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, 1)`, name)
			return err
		}))
	}
	<-looked
	require.Empty(t, looked, "no other look begins while one hangs")
	_, err = db.State()
	require.NoError(t, err)
	close(hangs)
	require.NoError(t, db.Close())
}
