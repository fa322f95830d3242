package sqldb_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// With two connections of the server for all replicas, each transaction is likely to meet another server
// process than the one before.
func TestReplicasWorkBehindAPoolerOfTransactions(t *testing.T) {
	behindPooler(t, "pool_mode = transaction", "default_pool_size = 2")
}

func TestReplicasWorkBehindAPoolerOfSessions(t *testing.T) {
	behindPooler(t) // by its defaults
}

// behindPooler starts replicas behind a pooler at once and lets them write.
func behindPooler(t *testing.T, settings ...string) {
	t.Helper()
	url := pgtest.Pooler(t, pgtest.Start(t).URL(), settings...)
	var all sync.WaitGroup
	const replicas, rounds = 3, 20
	dbs, errs := make([]*sqldb.DB, replicas), make([]error, replicas)
	for i := range replicas {
		all.Go(func() {
			dbs[i], errs[i] = sqldb.Open(t.Context(),
				sqldb.Config{URL: url, Migrations: migrations()})
		})
	}
	all.Wait()
	failed := make(chan error, replicas*4*rounds)
	for i, db := range dbs {
		require.NoError(t, errs[i])
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		_, err := db.State()
		require.NoError(t, err)
		for range 4 {
			all.Go(func() {
				for range rounds {
					failed <- db.Transact(t.Context(), "key", func(s sqldb.Session) error {
						var n int64
						if err := s.Row(`SELECT COALESCE(MAX(n), 0) FROM counters WHERE name <> $1`, "x").Scan(&n); err != nil {
							return err
						}
						_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, $2)`, fmt.Sprint(n), n+1)
						return err
					})
				}
			})
		}
	}
	all.Wait()
	for range replicas * 4 * rounds {
		require.NoError(t, <-failed)
	}
	require.Equal(t, replicas*4*rounds, number(t, dbs[0], `SELECT MAX(n) FROM counters`),
		"each transaction was alone")
}

// A replica that freezes in the middle of a transaction must not hold its rooms for ever, with or without a
// pooler.
func TestServerIsAskedToEndATransactionThatIsIdleForTooLong(t *testing.T) {
	direct := pgtest.Start(t).URL()
	for name, url := range map[string]string{"direct": direct,
		"pooled": pgtest.Pooler(t, direct, "pool_mode = transaction")} {
		t.Run(name, func(t *testing.T) {
			db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url + "&idle_in_transaction_session_timeout=20s",
				Migrations: migrations()})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			require.NoError(t, db.Transact(t.Context(), "key", func(s sqldb.Session) error {
				var limit string
				require.NoError(t, s.Row(`SELECT current_setting('idle_in_transaction_session_timeout')`).Scan(&limit))
				require.Equal(t, "20s", limit)
				return nil
			}))
			var limit string
			require.NoError(t, db.SQL().QueryRow(
				`SELECT current_setting('idle_in_transaction_session_timeout')`).Scan(&limit))
			want := "20s" // the outbox's transactions have it of the session
			if name == "pooled" {
				want = "0" // the session is another one's too
			}
			require.Equal(t, want, limit)
		})
	}
}

func TestSettingThatAPoolerDoesNotLetThroughStopsTheStart(t *testing.T) {
	url := pgtest.Pooler(t, pgtest.Start(t).URL())
	_, err := sqldb.Open(t.Context(), sqldb.Config{URL: url + "&statement_timeout=10s",
		Migrations: migrations()})
	require.ErrorContains(t, err, "statement_timeout")
	require.ErrorContains(t, err, "ignore_startup_parameters")
}

func TestSessionsThatTurnedReadOnlyAreNotUsedAgain(t *testing.T) {
	now := time.Now()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: pgtest.Start(t).URL(), Migrations: migrations(),
		Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	turn := func() {
		failed := make(chan error, 8)
		for range cap(failed) { // in each possible session
			go func() {
				_, err := db.SQL().ExecContext(t.Context(), `SET default_transaction_read_only = on;
					SELECT pg_sleep(0.05)`)
				failed <- err
			}()
		}
		for range cap(failed) {
			require.NoError(t, <-failed)
		}
	}
	write := func() error {
		now = now.Add(time.Second)
		return db.Write(t.Context(), func(s sqldb.Session) error {
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ('a', 1) ON CONFLICT (name) DO NOTHING`)
			return err
		})
	}
	unguarded := func() error { // as the outbox writes
		_, err := db.SQL().ExecContext(t.Context(), `DELETE FROM counters WHERE name = 'b'`)
		return err
	}
	for name, write := range map[string]func() error{"guarded": write, "unguarded": unguarded} {
		turn()
		require.ErrorContains(t, write(), "25006", name)
		for range 16 {
			require.NoError(t, write(), "%s: one that was refused is enough to know of all", name)
		}
	}
}

func TestReadOnlyServerIsAwayUntilItTakesWrites(t *testing.T) {
	t.Run("where servers that take writes are asked for", func(t *testing.T) { awayWhileReadOnly(t, "") })
	t.Run("where any server is asked for",
		func(t *testing.T) { awayWhileReadOnly(t, "&target_session_attrs=any") })
}

func awayWhileReadOnly(t *testing.T, attributes string) {
	t.Helper()
	now, url := time.Now(), pgtest.Start(t).URL()+attributes
	readOnly := func(on string) {
		db, err := sqldb.Connect(url[:strings.LastIndex(url, "/")] + "/postgres?sslmode=disable")
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		name, _, _ := strings.Cut(url[strings.LastIndex(url, "/")+1:], "?")
		_, err = db.ExecContext(t.Context(), `ALTER DATABASE `+name+` SET default_transaction_read_only = `+on)
		require.NoError(t, err)
	}
	read := func(sqldb.Session) error { return nil }
	write := func(s sqldb.Session) error {
		_, err := s.Exec(`DELETE FROM counters`)
		return err
	}
	var log testproc.Log
	open := func() *sqldb.DB {
		db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Migrations: migrations(),
			Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }})
		require.NoError(t, err, "a standby is promoted in a moment")
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	if attributes != "" {
		open() // so that nothing is left to migrate, which would be refused
	}
	readOnly("on")
	db := open()
	if attributes == "" {
		require.ErrorContains(t, db.SQL().PingContext(t.Context()), "read only connection")
	} else {
		require.NoError(t, db.SQL().PingContext(t.Context()), "it is what was asked for")
		require.NoError(t, db.Read(t.Context(), func(sqldb.Session) error { // which ends after the circuit opened
			require.ErrorContains(t, db.Write(t.Context(), write), "25006")
			return nil
		}))
	}
	require.Error(t, db.Read(t.Context(), read))
	now = now.Add(time.Second)
	require.Error(t, db.Read(t.Context(), read), "what is read there may be old")
	now = now.Add(time.Second)
	db.Reprobe(t.Context())
	require.ErrorIs(t, db.Away(), sqldb.ErrAway)
	require.NotContains(t, log.String(), "database is back")
	readOnly("off")
	testproc.Until(t, 30*time.Second, func() error { // a busy machine may need longer than one question has
		now = now.Add(time.Second)
		db.Reprobe(t.Context())
		return db.Away()
	})
	require.Equal(t, 1, strings.Count(log.String(), "database is back"), log.String())
	require.NoError(t, db.Write(t.Context(), write))
}

func TestDatabaseThatLacksCharactersStopsTheStart(t *testing.T) {
	_, err := sqldb.Open(t.Context(), sqldb.Config{URL: pgtest.Start(t).URLIn("LATIN1"),
		Migrations: migrations()})
	require.ErrorContains(t, err, "LATIN1")
	require.ErrorContains(t, err, "ENCODING 'UTF8'")
}
