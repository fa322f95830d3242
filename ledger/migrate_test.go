package ledger_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// migrateTo migrates a new database to an earlier version and inserts rows.
func migrateTo(t *testing.T, url string, version int64, rows ...string) {
	t.Helper()
	driver, source, tool, dir := "pgx", url, goose.DialectPostgres, "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, source, tool, dir = "sqlite", path, goose.DialectSQLite3, "sqlite"
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	provider, err := goose.NewProvider(tool, db, os.DirFS(filepath.Join("schema", "migrations", dir)),
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
	onEmpty(t, func(t *testing.T, b *bench) {
		b.loose = true
		migrateTo(t, b.url, 2,
			`INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
				VALUES ('integration', 1000, 1, 1, 's-1', 10, 130, 20, 'completed')`,
			`INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at, result, verdict,
				completes, epoch, ticket, fence, seller, granted_at, ended_at, matched_at, claimed)
				VALUES ('integration', 'm-1', 'judged', '', '', 15, 19, 'matched', 'agreed', 1, 1, 1, 1000, 's-1', 10,
				20, 20, 1000)`,
			`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at)
				VALUES ('integration', 1000, 1, 1, 'm-1', 10, 20)`,
			`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at)
				VALUES ('other', 7, 1, 1, 'm-1', 10, 20)`)
		l := b.open(t)
		require.Equal(t, []string{"integration 1000 m-1 10 20 1 stands", "other 7 m-1 10 20 1 stands"},
			column(t, l.DB(),
				`SELECT room || ' ' || fence || ' ' || message_id || ' ' || granted_at || ' ' || ended_at || ' ' ||
				completes || ' ' ||
				COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications ORDER BY room`))
		known, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m-1", Fingerprint: "k1:aa"})
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Matched, Ticket: 1, Fence: 1000, Epoch: 1, Granted: 10, Ended: 20,
			At: 20}, *known)
		require.Zero(t, count(t, l, "incidents"), "what it was like is not known")

		stale := matched("stale", 1)
		b.write(1, stale)
		b.write(1, rejected("m-1", 1))
		b.life(2)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"stale false", "m-2 true"}, b.journal.verdicts())
		require.Equal(t, []string{"m-1 21", "m-2 stands"}, column(t, l.DB(),
			`SELECT message_id || ' ' || COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications
				WHERE room = 'integration' ORDER BY fence`))
		_, err = l.DB().Exec(`DELETE FROM verifications`)
		require.Error(t, err)
	})
}

func TestADatabaseWithoutTheSellersOfActionsIsMigratedWithThem(t *testing.T) {
	onEmpty(t, func(t *testing.T, b *bench) {
		b.loose = true
		migrateTo(t, b.url, 3,
			`INSERT INTO leases (room, fence, epoch, ticket, seller) VALUES ('integration', 1000, 1, 1, 's-1')`,
			`INSERT INTO places (room, epoch, ticket, seller) VALUES ('integration', 1, 2, 's-2'), ('integration', 2,
				2, 'another'), ('other', 1, 2, 'another')`,
			`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence) VALUES
				('integration', 1, '9-1', 0, 5, 'kim', 'release', '', 0, 1000), ('integration', 1, '9-2', 1, 6, 'kim',
				'remove', '', 2, 0),
				('integration', 1, '9-3', 0, 7, 'kim', 'pause', '', 0, 0)`,
			`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence) VALUES
				('integration', 1, '9-1', 0, 5, 'action', 0, 1000), ('integration', 1, '9-2', 1, 6, 'action', 2, 0),
				('integration', 1, '9-3', 0, 7, 'action', 0, 0), ('integration', 1, '9-4', 0, 8, 'epoch', 0, 0)`)
		l := b.open(t)
		require.Equal(t, []string{"release s-1", "remove s-2", "pause "}, column(t, l.DB(), `SELECT action || ' '
			|| seller FROM actions ORDER BY at`))
		require.Equal(t, []string{"9-1 s-1", "9-2 s-2", "9-3 ", "9-4 "}, column(t, l.DB(), `SELECT entry || ' ' ||
			seller FROM timeline ORDER BY at`))
		p, err := l.History(t.Context(), here, read.Filter{Seller: "s-2"})
		require.NoError(t, err)
		require.Len(t, p.Actions, 1)
		rows, err := l.Story(t.Context(), read.Story{Seller: "s-1"})
		require.NoError(t, err)
		require.Len(t, rows, 1)
	})
}

func TestADatabaseOfClaimedAndRejectedMessagesIsMigratedToWhereTheyBelong(t *testing.T) {
	onEmpty(t, func(t *testing.T, b *bench) {
		b.loose = true
		rows := []string{`INSERT INTO leases (room, fence, epoch, ticket, seller)
			VALUES ('integration', 1000, 1, 1, 's-1')`}
		for i, m := range []struct{ id, first string }{
			{"claimed", `'unmatched', 'no_lease', 0, 0, ''`}, {"refused", `'unmatched', 'no_lease', 0, 0, ''`},
			{"rejected", `'matched', '', 1, 1000, 's-1'`}, {"passed on", `'matched', '', 1, 1000, 's-1'`},
			{"given up", `'unmatched', 'ambiguous', 0, 0, ''`}, {"kept", `'matched', '', 1, 1000, 's-1'`},
		} {
			rows = append(rows, fmt.Sprintf(`INSERT INTO messages (room, message_id, state, sender, body, sent_at,
				received_at, epoch, result, reason, ticket,
				fence, seller) VALUES ('integration', '%s', 'judged', '', '', 0, %d, 1, %s)`, m.id, i, m.first))
		}
		rows = append(rows, `INSERT INTO attributions (room, message_id, kind, fence, epoch, ticket, seller,
			verdict, at) VALUES
			('integration', 'claimed', 'claimed', 2000, 1, 2, 's-2', 'agreed', 5), ('integration', 'refused',
			'claimed', 2000, 1, 2, 's-2', 'refused', 5),
			('integration', 'rejected', 'rejected', 1000, 1, 1, 's-1', '', 5),
			('integration', 'passed on', 'rejected', 1000, 1, 1, 's-1', '', 5), ('integration', 'passed on',
			'claimed', 2000, 1, 2, 's-2', 'agreed', 6),
			('integration', 'given up', 'claimed', 2000, 1, 2, 's-2', 'agreed', 5), ('integration', 'given up',
			'rejected', 2000, 1, 2, 's-2', '', 6),
			('other', 'kept', 'rejected', 1000, 1, 1, 's-1', '', 5)`)
		migrateTo(t, b.url, 3, rows...)
		l := b.open(t)
		require.Equal(t, []string{"claimed matched  2/2000", "refused unmatched no_lease 0/0",
			"rejected unmatched rejected 0/0",
			"passed on matched  2/2000", "given up unmatched rejected 0/0", "kept matched  1/1000"},
			belonging(t, l, ""))
		require.Equal(t, []string{"kept matched  1/1000"}, belonging(t, l, "s-1"))
		require.Equal(t, []string{"claimed matched  2/2000", "passed on matched  2/2000"}, belonging(t, l, "s-2"))
	})
}

func TestWebhooksOfTheFirstVersionAreTakenAlongInTheirOrder(t *testing.T) {
	onEmpty(t, func(t *testing.T, b *bench) {
		b.loose = true
		const insert = `INSERT INTO outbox_tasks (event_id, room, lease_key, seq, type, payload, phase, locked_at,
			waiting_since, attempts, last_error, created_at, updated_at) VALUES `
		migrateTo(t, b.url, 4,
			insert+`('evt_1', 'integration', 'integration/1', 1, 'lock.granted', '{"n":1}', 'done', 0, NULL, 2, '', 1, 5)`,
			insert+`('evt_2', 'integration', 'integration/1', 2, 'lock.ended', '{"n":2}', 'record', 7, 6, 3, '', 2, 7)`,
			insert+`('evt_3', 'integration', 'integration/2', 1, 'lock.granted', '{"n":3}', 'dead', 0, 4, 9, 'answered 500', 3, 8)`,
			insert+`('evt_4', 'integration', 'integration/2', 2, 'lock.ended', '{"n":4}', 'deliver', 0, NULL, 0, '', 4, 9)`)
		l := b.open(t)
		require.Equal(t, []string{
			`evt_1 webhook integration/1 {"n":1} done record 0 - 2  1 5`,
			`evt_2 webhook integration/1 {"n":2} open record 7 6 3  2 7`,
			`evt_3 webhook integration/2 {"n":3} dead deliver 0 4 9 answered 500 3 8`,
			`evt_4 webhook integration/2 {"n":4} open deliver 0 - 0  4 9`,
		}, column(t, l.DB(), `SELECT uid || ' ' || kind || ' ' || task_key || ' ' || payload || ' ' || state || ' '
			|| phase || ' ' || locked_at || ' ' ||
			COALESCE(CAST(waiting_since AS TEXT), '-') || ' ' || attempts || ' ' || last_error || ' ' || created_at ||
			' ' || updated_at FROM outbox_tasks ORDER BY id`))
	})
}
