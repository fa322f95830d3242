package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/waitroom/waitroom/internal/pgtest"
	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/internal/testproc"
	"github.com/waitroom/waitroom/room"
)

// breach is one replica whose first line a test breaks by hand: with a Redis that says what is not so.
type breach struct {
	t       *testing.T
	fleet   *fleet
	carrier *carrier
	rdb     *redis.Client
	db      *sql.DB
}

const brokenRoom = "integration"

func newBreach(t *testing.T, driver, databaseURL, dsn string, args ...string) *breach {
	store := redistest.Start(t)
	b := &breach{t: t, rdb: store.Client()}
	b.fleet = startFleet(t, 1, append([]string{"--redis-url", store.URL(), "--database-url", databaseURL,
		"--sms-webhook-secret", smsSecret}, args...)...)
	b.db = openDatabase(t, driver, dsn)
	var err error
	b.carrier, err = newCarrier(b.fleet)
	require.NoError(t, err)
	return b
}

// sqliteFile is a ledger in a file: its DATABASE_URL, and how the driver names it.
func sqliteFile(t *testing.T) (url, dsn string) {
	path := filepath.Join(t.TempDir(), "waitroom.db")
	return "sqlite:" + path, "file:" + path + "?_busy_timeout=5000"
}

// join gives a new session the lock or a place in line, and a socket.
func (b *breach) join(seller string) (string, *socket) {
	session := room.NewSession()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: http.MethodPost, path: "/api/" + brokenRoom + "/lock",
		body: `{"seller_id":"` + seller + `"}`, session: session})
	require.NoError(b.t, err)
	require.LessOrEqual(b.t, r.status, http.StatusAccepted, r.body)
	s := newSocket(b.fleet, brokenRoom, session)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { defer close(gone); _ = s.listen(ctx) }()
	b.t.Cleanup(func() { cancel(); <-gone })
	return session, s
}

// status is what a session is told of its place.
func (b *breach) status(session string) standing {
	b.t.Helper()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: http.MethodGet, path: "/api/" + brokenRoom + "/lock/status", session: session})
	require.NoError(b.t, err)
	var status struct{ Me standing }
	require.NoError(b.t, json.Unmarshal([]byte(r.body), &status), r.body)
	return status.Me
}

// page is the session's page.
func (b *breach) page(session string) string {
	b.t.Helper()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: http.MethodGet, path: "/rooms/" + brokenRoom,
		header: func() http.Header { return http.Header{"Cookie": {"waitroom_session=" + session}} }})
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, r.status)
	return r.body
}

// send posts a message, twice, with a time or (the zero one) without.
func (b *breach) send(at time.Time) *message {
	b.t.Helper()
	how := milliseconds
	if at.IsZero() {
		how = noTime
	}
	m, over := b.carrier.write(brokenRoom, at, how), newPace()
	over.finish()
	require.NoError(b.t, b.carrier.deliver(b.t.Context(), m, route{again: true}, over))
	return m
}

// set changes what Redis says of the room's lease.
func (b *breach) set(fields ...any) {
	require.NoError(b.t, b.rdb.HSet(b.t.Context(), "{"+brokenRoom+"}:state", fields...).Err())
}

// forget takes the ended leases from the first line: it sees the current one only.
func (b *breach) forget() {
	require.NoError(b.t, b.rdb.Del(b.t.Context(), "{"+brokenRoom+"}:leases").Err())
}

func TestSecondLineAloneKeepsACodeFromTheWrongSeller(t *testing.T) {
	lies := []struct {
		name string
		tell func(b *breach, first standing) (sentAt time.Time)
		why  string
	}{
		{"two leases overlap", func(b *breach, first standing) time.Time {
			b.set("granted", first.GrantedAt.UnixMilli())
			return first.GrantedAt
		}, "overlaps"},
		{"the lease has the fence of the one before", func(b *breach, first standing) time.Time {
			b.set("fence", first.Fence)
			return time.Time{}
		}, "fence"},
		{"the lease has an older fence", func(b *breach, first standing) time.Time {
			b.set("fence", first.Fence-1)
			return time.Time{}
		}, "fence"},
	}
	for _, ledger := range []string{"sqlite", "pgx"} {
		for _, lie := range lies {
			t.Run(ledger+"/"+lie.name, func(t *testing.T) {
				url, dsn := sqliteFile(t)
				if ledger == "pgx" {
					url = pgtest.Start(t).URL()
					dsn = url
				}
				b := newBreach(t, ledger, url, dsn, "--webhook-url", "http://127.0.0.1:1/", "--webhook-secret", smsSecret)
				a, _ := b.join("a")
				second, socket := b.join("b")
				b.join("c")
				first := b.status(a)
				require.Equal(t, "matched", b.send(first.GrantedAt).answer.Result)
				holder := b.status(second)
				require.Equal(t, "locked", holder.Status)

				b.forget()
				m := b.send(lie.tell(b, first))
				require.Equal(t, answer{Result: "unmatched", Reason: "ambiguous"}, m.answer)
				b.requireRefused(m, lie.why)
				b.requireHidden(m, second, socket)
			})
		}
	}
}

// requireRefused wants the refusal on record, once, and somebody called.
func (b *breach) requireRefused(m *message, why string) {
	b.t.Helper()
	testproc.Until(b.t, patience, func() error {
		var kind, detail string
		return b.db.QueryRowContext(b.t.Context(), `SELECT kind, detail FROM incidents`).Scan(&kind, &detail)
	})
	var kind, subject, detail string
	require.NoError(b.t, b.db.QueryRowContext(b.t.Context(), `SELECT kind, subject, detail FROM incidents`).Scan(&kind, &subject, &detail))
	require.Equal(b.t, "match_refused", kind)
	require.Equal(b.t, m.id, subject)
	require.Contains(b.t, detail, why)
	require.Equal(b.t, 1, count(b.t, b.db, `SELECT COUNT(*) FROM incidents`))
	require.Equal(b.t, 1, count(b.t, b.db, `SELECT COUNT(*) FROM verifications`), "the first match alone")
	require.Equal(b.t, 1, count(b.t, b.db, `SELECT COUNT(*) FROM outbox_tasks WHERE type = 'sms.matched'`))
	var payload string
	require.NoError(b.t, b.db.QueryRowContext(b.t.Context(), `SELECT payload FROM outbox_tasks WHERE type = 'incident'`).Scan(&payload))
	require.Contains(b.t, payload, `"message_id":"`+m.id+`"`)
	require.Contains(b.t, payload, `"kind":"match_refused"`)
	var result, reason string
	require.NoError(b.t, b.db.QueryRowContext(b.t.Context(), fmt.Sprintf(
		`SELECT result, reason FROM messages WHERE message_id = '%s'`, m.id)).Scan(&result, &reason))
	require.Equal(b.t, "unmatched ambiguous", result+" "+reason)
}

// requireHidden wants that who held the lock has not been shown the message: neither when it came nor on reload.
func (b *breach) requireHidden(m *message, session string, s *socket) {
	b.t.Helper()
	testproc.Until(b.t, patience, func() error { // the socket has been told everything up to here
		for _, f := range s.frames() {
			if f.Status == "ended" {
				return nil
			}
		}
		return fmt.Errorf("%d frames", len(s.frames()))
	})
	require.Empty(b.t, s.shown())
	for _, f := range s.frames() {
		require.NotContains(b.t, f.raw, m.code)
	}
	require.NotContains(b.t, b.page(session), m.code)
	inbox, err := b.rdb.ZRange(b.t.Context(), "{"+brokenRoom+"}:inbox", 0, -1).Result()
	require.NoError(b.t, err)
	require.NotContains(b.t, strings.Join(inbox, " "), m.code)
}
