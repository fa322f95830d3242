package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// migrations create a table of counters and then convert it into another one.
func migrations() sqldb.Migrations {
	first := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY, n " +
		"BIGINT NOT NULL);\n")}
	second := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE others AS SELECT name FROM counters;\n")}
	return sqldb.Migrations{Files: fstest.MapFS{"sqlite/00001_counters.sql": first,
		"postgres/00001_counters.sql": first,
		"sqlite/00002_others.sql":     second, "postgres/00002_others.sql": second}}
}

// onBoth runs a test on SQLite and on PostgreSQL. Each call of open is another process.
func onBoth(t *testing.T, test func(t *testing.T, open func() *sqldb.DB)) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(t).URL() + "&connect_timeout=60" },
	} {
		t.Run(name, func(t *testing.T) {
			at := url()
			test(t, func() *sqldb.DB {
				db, err := sqldb.Open(t.Context(), sqldb.Config{URL: at, Migrations: migrations()})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, db.Close()) })
				return db
			})
		})
	}
}

func number(t *testing.T, db *sqldb.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.SQL().QueryRow(query).Scan(&n))
	return n
}

func TestATransactionIsAloneUnderItsKey(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *sqldb.DB) {
		one, two := open(), open()
		add := func(s sqldb.Session) error {
			var n int
			if err := s.Row(`SELECT COALESCE(MAX(n), 0) FROM counters`).Scan(&n); err != nil {
				return err
			}
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ('a', $1) ON CONFLICT (name) DO UPDATE
				SET n = excluded.n`, n+1)
			return err
		}
		var writers sync.WaitGroup
		for _, db := range []*sqldb.DB{one, two, one, two} {
			writers.Go(func() {
				for range 10 {
					if err := db.Transact(context.Background(), "a", add); err != nil {
						t.Errorf("add: %v", err)
					}
				}
			})
		}
		writers.Wait()
		require.Equal(t, 40, number(t, one, `SELECT n FROM counters`))
	})
}

func TestATransactionThatFailsWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *sqldb.DB) {
		db, broken := open(), errors.New("broken")
		err := db.Transact(t.Context(), "a", func(s sqldb.Session) error {
			_, err := s.Exec(`INSERT INTO others (name) VALUES ('a')`)
			return errors.Join(broken, err)
		})
		require.ErrorIs(t, err, broken)
		require.Zero(t, number(t, db, `SELECT COUNT(*) FROM others`))
	})
}

func TestAFaultOfTheDataIsNoneOfTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *sqldb.DB) {
		db := open()
		insert := func(s sqldb.Session) error {
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ('a', 1)`)
			return err
		}
		require.NoError(t, db.Write(t.Context(), insert))
		err := db.Write(t.Context(), insert)
		require.True(t, sqldb.OfData(err), "%v", err)
		err = db.Read(t.Context(), func(sqldb.Session) error { return sqldb.DataError("nonsense") })
		require.True(t, sqldb.OfData(err))
		require.NoError(t, db.Away())
		require.Zero(t, db.Stats().Failures)
		long := make([]byte, 20_000)
		for i := range long {
			long[i] = 'a' + byte(rand.IntN(26)) // nothing that could be compressed
		}
		var on dialect.Dialect
		err = db.Write(t.Context(), func(s sqldb.Session) error {
			on = s.Dialect
			_, err := s.Exec(`INSERT INTO counters (name, n) VALUES ($1, 1)`, string(long))
			return err
		})
		if on == dialect.Postgres {
			require.True(t, sqldb.OfData(err), "too long for its index: %v", err)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, db.Away())

		err = db.Read(t.Context(), func(s sqldb.Session) error { return errors.New("the line is cut") })
		require.False(t, sqldb.OfData(err))
		require.ErrorIs(t, db.Away(), sqldb.ErrAway)
		require.EqualValues(t, 1, db.Stats().Failures)
	})
}

func TestRowsOfAStatementKeepTheirOrderAndTheirNulls(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *sqldb.DB) {
		db := open()
		_, err := db.SQL().Exec(`CREATE TABLE given (name TEXT, n BIGINT, nick TEXT)`)
		require.NoError(t, err)
		for _, many := range []int{0, 1, 3, 64, 203} {
			rows, want := dialect.NewRows(many, "name TEXT", "n BIGINT", "nick TEXT"), []string(nil)
			for i := range many {
				number, nick := new(int64(i)), new(fmt.Sprint("it's ", i))
				if i%3 == 0 {
					number, nick = nil, nil
				}
				rows.Add(fmt.Sprint("가", i), number, nick)
				want = append(want, fmt.Sprint("all 가", i, " ", i%3 == 0, " ", i%3 == 0))
			}
			require.Equal(t, many, rows.Len())
			var got []string
			require.NoError(t, db.Transact(t.Context(), "a", func(s sqldb.Session) error {
				if err := s.ExecRows(rows, `INSERT INTO given (name, n, nick) SELECT $1 || name, n, nick FROM v`,
					"to "); err != nil {
					return err
				}
				return s.EachRow(func(scan func(...any) error) error {
					var name string
					var number *int64
					var nick *string
					err := scan(&name, &number, &nick)
					got = append(got, fmt.Sprint(name, " ", number == nil, " ", nick == nil))
					return err
				}, rows, `SELECT $1 || name, n, nick FROM v`, "all ")
			}))
			require.Equal(t, want, got)
			require.Equal(t, many, number(t, db, `SELECT COUNT(*) FROM given WHERE name LIKE 'to 가%'
				AND (n IS NULL) = (nick IS NULL)`))
			_, err := db.SQL().Exec(`DELETE FROM given`)
			require.NoError(t, err)
		}
	})
}
