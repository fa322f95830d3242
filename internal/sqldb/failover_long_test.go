//go:build long

package sqldb_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestWritesGoToTheNewPrimaryBehindTheSameAddress(t *testing.T) {
	t.Run("directly", func(t *testing.T) {
		failsOver(t, func(url string) string { return url }, func(*pgtest.DB) {}) // it lives on, with our sessions
	})
	for _, mode := range []string{"session", "transaction"} {
		t.Run("by a pooler of "+mode+"s", func(t *testing.T) {
			failsOver(t, func(url string) string { return pgtest.Pooler(t, url, "pool_mode = "+mode) },
				(*pgtest.DB).HangUp)
		})
	}
}

// failsOver replaces the primary behind a database address that stays the same; through returns the URL that
// clients use for it.
//
// A pooler does not notice a failover: its sessions stay with the old primary until that ends them, which the
// function end does.
func failsOver(t *testing.T, through func(url string) string, end func(old *pgtest.DB)) {
	t.Helper()
	old := pgtest.StartOwn(t)
	url := old.URL()
	standby := old.Standby()
	address, behind := old.Behind(url)
	var log testproc.Log
	var now atomic.Pointer[time.Time]
	now.Store(new(time.Now()))
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: through(behind), Migrations: migrations(),
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Now: func() time.Time { return *now.Load() }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	write := func(name string) error {
		return db.Transact(t.Context(), "key", func(s sqldb.Session) error {
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, 1)`, name)
			return err
		})
	}
	var all sync.WaitGroup // as many connections as there may be
	for i := range 8 {
		all.Go(func() {
			_, _ = db.SQL().ExecContext(t.Context(), `SELECT pg_sleep(0.1)`)
			_ = write(fmt.Sprint("before ", i))
		})
	}
	all.Wait()

	old.Fence()
	standby.Promote(old)
	require.Error(t, write("refused"))
	for range 3 { // while there is no primary behind the address, it is not back, whatever may be read there
		now.Store(new(now.Load().Add(time.Second))) // the next attempt is allowed
		db.Reprobe(t.Context())
		require.NotContains(t, log.String(), "database is back")
	}
	address.Move(standby)
	end(old)
	testproc.Until(t, time.Minute, func() error {
		now.Store(new(now.Load().Add(time.Second)))
		db.Reprobe(t.Context())
		return write("after")
	})
	for i := range 16 {
		require.NoError(t, write(fmt.Sprint("after ", i)))
	}
	require.Equal(t, 1, strings.Count(log.String(), "database is back"), log.String())
	require.Equal(t, 25, number(t, db, `SELECT COUNT(*) FROM counters`))
}
