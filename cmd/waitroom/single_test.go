package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// single is one replica with sellers and a carrier; a test looks into its store and database.
type single struct {
	t       *testing.T
	fleet   *fleet
	carrier *carrier
	rdb     *redis.Client
	db      *sql.DB
}

const oneRoom = "integration"

func newSingle(t *testing.T, driver, databaseURL, dsn string, args ...string) *single {
	return newSingleOn(t, redistest.Start(t), driver, databaseURL, dsn, args...)
}

func newSingleOn(t *testing.T, store *redistest.Server, driver, databaseURL, dsn string,
	args ...string) *single {
	b := &single{t: t, rdb: store.Client()}
	b.fleet = startFleet(t, 1, append([]string{"--redis-url", store.URL(), "--database-url", databaseURL,
		"--sms-webhook-secret", smsSecret}, args...)...)
	b.db = openDatabase(t, driver, dsn)
	var err error
	b.carrier, err = newCarrier(b.fleet)
	require.NoError(t, err)
	return b
}

// sqliteFile returns a ledger in a file: its DATABASE_URL, and its name for the driver.
func sqliteFile(t *testing.T) (url, dsn string) {
	path := filepath.Join(t.TempDir(), "waitroom.db")
	return "sqlite:" + path, "file:" + path + "?_busy_timeout=5000"
}

// join gives a new session the lock or a place in line, and a socket.
func (b *single) join(seller string) (string, *socket) {
	session := room.NewSession()
	r := b.do(http.MethodPost, session, "/lock", `{"seller_id":"`+seller+`"}`)
	require.LessOrEqual(b.t, r.status, http.StatusAccepted, r.body)
	s := newSocket(b.fleet, oneRoom, session)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { defer close(gone); _ = s.listen(ctx) }()
	b.t.Cleanup(func() { cancel(); <-gone })
	return session, s
}

// do sends a session's request to its room.
func (b *single) do(method, session, path, body string) reply {
	b.t.Helper()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: method, path: "/api/" + oneRoom + path, body: body,
		session: session})
	require.NoError(b.t, err)
	return r
}

// expect records an ask of the holder, and returns a time (unix ms) by which Redis has recorded it.
func (b *single) expect(session string, fence int64, more string) int64 {
	b.t.Helper()
	r := b.do(http.MethodPost, session, "/lock/expect", fmt.Sprintf(`{"fence":%d%s}`, fence, more))
	require.Equal(b.t, http.StatusOK, r.status, r.body)
	return r.answered
}

// status returns a session's status of its place.
func (b *single) status(session string) standing {
	b.t.Helper()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: http.MethodGet, path: "/api/" + oneRoom +
		"/lock/status", session: session})
	require.NoError(b.t, err)
	var status struct{ Me standing }
	require.NoError(b.t, json.Unmarshal([]byte(r.body), &status), r.body)
	return status.Me
}

// page returns the session's page.
func (b *single) page(session string) string {
	b.t.Helper()
	r, err := b.fleet.insist(b.t.Context(), 0, call{method: http.MethodGet, path: "/rooms/" + oneRoom,
		header: func() http.Header { return http.Header{"Cookie": {"waitroom_session=" + session}} }})
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, r.status)
	return r.body
}

// send posts a message twice; the zero time sends it without a time.
func (b *single) send(at time.Time) *message {
	b.t.Helper()
	how := milliseconds
	if at.IsZero() {
		how = noTime
	}
	return b.bring(b.carrier.write(oneRoom, at, how), route{again: true})
}

// bring delivers a message by a route on which no lease has to pass.
func (b *single) bring(m *message, by route) *message {
	b.t.Helper()
	over := newPace()
	over.finish()
	require.NoError(b.t, b.carrier.deliver(b.t.Context(), m, by, over))
	return m
}
