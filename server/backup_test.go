package server

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// backups is one way to back up a running system, as docs/runbook.md describes it.
type backups struct {
	url     func(t *testing.T) string
	args    []string                                // of Redis
	redis   func(t *testing.T, s *redistest.Server) // leaves files in a directory that a Redis starts from
	files   string                                  // of Redis's directory
	record  func(t *testing.T, url string) (file string)
	restore func(t *testing.T, file string) (url string)
}

// inFiles is a backup of SQLite and of a snapshot of Redis.
var inFiles = backups{
	url: func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db") },
	redis: func(t *testing.T, s *redistest.Server) {
		require.NoError(t, s.Client().Save(t.Context()).Err())
	},
	files: "dump.rdb",
	record: func(t *testing.T, url string) string {
		db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		file := filepath.Join(t.TempDir(), "backup.db")
		_, err = db.Exec(`VACUUM INTO '` + file + `'`)
		require.NoError(t, err)
		return file
	},
	restore: func(_ *testing.T, file string) string { return "sqlite:" + file },
}

// copied returns a directory with copies of a Redis's files.
func (b backups) copied(t *testing.T, s *redistest.Server) (dir string) {
	t.Helper()
	b.redis(t, s)
	dir = t.TempDir()
	from := filepath.Join(s.Dir(), b.files)
	info, err := os.Stat(from)
	require.NoError(t, err)
	if info.IsDir() {
		require.NoError(t, os.CopyFS(filepath.Join(dir, b.files), os.DirFS(from)))
		return dir
	}
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, b.files), content, 0o600))
	return dir
}

func TestSystemThatIsRestoredFromBackupsKeepsTheRules(t *testing.T) {
	t.Parallel() // it waits
	inFiles.keepTheRules(t)
}

// keepTheRules runs a system, backs it up meanwhile, and continues from the backup.
func (b backups) keepTheRules(t *testing.T) {
	t.Helper()
	store := redistest.StartWith(t, redistest.Config{Args: b.args})
	cfg := config(t, "--redis-url", store.URL(), "--database-url", b.url(t))
	cfg.Lease = 1500 * time.Millisecond // a lease in an old file ends before another is granted
	r := start(t, cfg)
	first, waits := newSeller(t, r.URL(), "s-1"), newSeller(t, r.URL(), "s-2")
	epoch := first.join().number("epoch")
	waits.join()
	dir := b.copied(t, store) // and goes on, so that this is older than the ledger's

	first.leave("?reason=completed")
	waits.leave("?reason=completed")
	var fence int64
	for i := range 3 {
		s := newSeller(t, r.URL(), fmt.Sprintf("s-%d", 3+i))
		fence = max(fence, s.join().number("fence"))
		s.leave("?reason=completed")
	}
	taken(t, r, 5)
	file := b.record(t, string(cfg.DatabaseURL))
	require.NoError(t, r.stop(t))
	store.Kill()

	older := redistest.StartWith(t, redistest.Config{Args: append([]string{"--dir", dir}, b.args...)})
	cfg = config(t, "--redis-url", older.URL(), "--database-url", b.restore(t, file))
	cfg.Lease = 1500 * time.Millisecond
	r = start(t, cfg)
	// before the database is open, a busy machine may take longer than the engine waits for the ledger
	testproc.Until(t, patience, func() error {
		_, err := r.ledger.Known(t.Context(), "integration")
		return err
	})
	late := newSeller(t, r.URL(), "s-9")
	got := late.join()
	require.EqualValues(t, 6, got.number("ticket"), "above those that the ledger knows: %s", got.body)
	require.Greater(t, got.number("epoch"), epoch)
	require.Equal(t, room.Lost, place(t, r, first.session).Outcome)
	testproc.Until(t, patience, func() error {
		st := place(t, r, late.session)
		if st.Status == room.Locked && st.Fence <= fence {
			t.Fatalf("fence %d is not above %d", st.Fence, fence)
		}
		if st.Status != room.Ended && st.Status != room.Locked {
			return fmt.Errorf("s-9 is %s", st.Status)
		}
		return nil
	})
	late.leave("?reason=completed")
	taken(t, r, 6)
	for query, want := range map[string]int{
		`SELECT COUNT(*) FROM places`:                         6,
		`SELECT COUNT(DISTINCT ticket) FROM places`:           6,
		`SELECT COUNT(*) - COUNT(DISTINCT fence) FROM leases`: 0,
		`SELECT COUNT(*) FROM incidents`:                      0,
		`SELECT COUNT(*) FROM parked`:                         0,
		`SELECT COUNT(*) FROM leases a, leases b WHERE a.fence < b.fence AND b.granted_at < a.ended_at`: 0,
	} {
		var n int
		require.NoError(t, r.db.SQL().QueryRow(query).Scan(&n))
		require.Equal(t, want, n, query)
	}
}

// taken waits until the ledger has the ends of a number of places.
func taken(t *testing.T, r *replica, places int) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		var n int
		err := r.db.SQL().QueryRow(`SELECT COUNT(*) FROM places WHERE outcome IS NOT NULL`).Scan(&n)
		if err == nil && n < places {
			err = fmt.Errorf("%d places have ended in the ledger", n)
		}
		return err
	})
}

func place(t *testing.T, r *replica, session string) room.Standing {
	t.Helper()
	st, err := r.engine.Stand(t.Context(), "integration", session)
	require.NoError(t, err)
	return st
}
