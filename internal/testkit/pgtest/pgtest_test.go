package pgtest_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestEachURLIsADatabaseOfItsOwn(t *testing.T) {
	ctx := context.Background()
	db := pgtest.Start(t)
	one, other := connect(t, db.URL()), connect(t, db.URL())
	for _, conn := range []*pgx.Conn{one, other} {
		_, err := conn.Exec(ctx, "CREATE TABLE same_name (n integer)")
		require.NoError(t, err)
	}
}

func TestDataOutlivesAnOutage(t *testing.T) {
	ctx := context.Background()
	db := pgtest.StartOwn(t)
	url := db.URL()
	before := connect(t, url)
	_, err := before.Exec(ctx, "CREATE TABLE kept AS SELECT 7 AS n")
	require.NoError(t, err)

	db.Stop()
	require.Error(t, before.Ping(ctx))
	_, err = pgx.Connect(ctx, url)
	require.Error(t, err)

	db.Start()
	var n int
	require.NoError(t, connect(t, url).QueryRow(ctx, "SELECT n FROM kept").Scan(&n))
	require.Equal(t, 7, n)
}

func TestAFrozenServerAnswersNothingUntilItThaws(t *testing.T) {
	db := pgtest.StartOwn(t)
	url := db.URL()
	before := connect(t, url)
	db.Freeze()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := pgx.Connect(ctx, url)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	db.Thaw()
	require.NoError(t, before.Ping(context.Background()), "the connection was kept")
}

func TestAServerOfATestsOwnIsWellAgainForTheNext(t *testing.T) {
	var first, second string
	t.Run("is left frozen and stopped", func(t *testing.T) {
		db := pgtest.StartOwn(t)
		first = db.URL()
		db.Freeze()
		db.Thaw()
		db.Stop()
	})
	t.Run("is as new", func(t *testing.T) {
		second = pgtest.StartOwn(t).URL()
		require.NoError(t, connect(t, second).Ping(context.Background()))
	})
	require.NotEqual(t, first, second, "each has a database of its own")
}
