package ledger_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// migrateTo brings a new database to an earlier version and fills it.
func migrateTo(t *testing.T, url string, version int64, rows ...string) {
	t.Helper()
	driver, source, dialect, speaks, dir := "pgx", url, goose.DialectPostgres, outbox.Postgres, "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, source, dialect, speaks, dir = "sqlite", path, goose.DialectSQLite3, outbox.SQLite, "sqlite"
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	tasks := goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, outbox.Schema(speaks))
		return err
	}}, nil)
	provider, err := goose.NewProvider(dialect, db, os.DirFS(filepath.Join("migrations", dir)), goose.WithGoMigrations(tasks),
		goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), version)
	require.NoError(t, err)
	for _, row := range rows {
		_, err := db.Exec(row)
		require.NoError(t, err, row)
	}
}

func TestADatabaseOfTheFirstVersionIsMigratedWithWhatItHolds(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		migrateTo(t, b.url, 2,
			`INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome) VALUES ('integration', 1000, 1, 1, 's-1', 10, 130, 20, 'completed')`,
			`INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at, result, verdict, completes, epoch, ticket, fence, seller, granted_at, ended_at, matched_at, claimed)
				VALUES ('integration', 'm-1', 'judged', '', '', 15, 19, 'matched', 'agreed', 1, 1, 1, 1000, 's-1', 10, 20, 20, 1000)`,
			`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at) VALUES ('integration', 1000, 1, 1, 'm-1', 10, 20)`,
			`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at) VALUES ('other', 7, 1, 1, 'm-1', 10, 20)`)
		l := b.open(t)
		require.Equal(t, []string{"integration 1000 m-1 10 20 1 stands", "other 7 m-1 10 20 1 stands"}, column(t, l.DB(),
			`SELECT room || ' ' || fence || ' ' || message_id || ' ' || granted_at || ' ' || ended_at || ' ' || completes || ' ' ||
				COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications ORDER BY room`))
		known, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m-1", Fingerprint: "k1:aa"})
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Matched, Ticket: 1, Fence: 1000, Epoch: 1, Granted: 10, Ended: 20, At: 20}, *known)
		require.Zero(t, count(t, l, "incidents"), "what it was like is not known")

		stale := matched("stale", 1)
		b.write(1, stale)
		b.write(1, rejected("m-1", 1))
		b.life(2)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"stale false", "m-2 true"}, b.journal.told())
		require.Equal(t, []string{"m-1 21", "m-2 stands"}, column(t, l.DB(),
			`SELECT message_id || ' ' || COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications WHERE room = 'integration' ORDER BY fence`))
		_, err = l.DB().Exec(`DELETE FROM verifications`)
		require.Error(t, err)
	})
}
