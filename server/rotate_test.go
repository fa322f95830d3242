package server

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// A secret in a file is replaced while the server runs: by Redis's default user, and by a user of an ACL.
func TestPasswordOfRedisIsReplacedWithoutARestart(t *testing.T) {
	for name, set := range map[string]func(*redis.Conn, string) error{
		"default": func(c *redis.Conn, password string) error {
			return c.ConfigSet(t.Context(), "requirepass", password).Err()
		},
		"app": func(c *redis.Conn, password string) error {
			return c.Do(t.Context(), "ACL", "SETUSER", "app", "reset", "on", ">"+password, "~*", "&*", "+@all").Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := redistest.Start(t)
			file := filepath.Join(t.TempDir(), "redis")
			write := func(password string) {
				t.Helper()
				require.NoError(t, os.WriteFile(file, []byte("redis://"+name+":"+password+"@"+store.Addr()+"\n"), 0o600))
			}
			conn := store.Client().Conn() // it stays signed in
			t.Cleanup(func() { require.NoError(t, conn.Close()) })
			require.NoError(t, conn.Ping(t.Context()).Err())
			require.NoError(t, set(conn, "first"))
			write("first")
			r := start(t, config(t, "--redis-url-file", file))
			a := newSeller(t, r.URL(), "a")
			require.Equal(t, http.StatusOK, a.join().StatusCode)

			write("second")
			require.NoError(t, set(conn, "second"))
			for _, kind := range []string{"normal", "pubsub"} {
				require.NoError(t, conn.Do(t.Context(), "CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes").Err())
			}
			require.Eventually(t, func() bool {
				return a.ask("GET", "/readyz", "").StatusCode == http.StatusOK
			}, time.Minute, 10*time.Millisecond)
			require.Equal(t, http.StatusOK, a.leave("").StatusCode)
		})
	}
}

// New connections to PostgreSQL sign in as the URL in the file says then.
func TestUserOfPostgreSQLIsReplacedWithoutARestart(t *testing.T) {
	db := pgtest.Start(t)
	file := filepath.Join(t.TempDir(), "database")
	at, err := url.Parse(db.URL())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(at.String()), 0o600))
	cfg, err := ParseConfig([]string{"--addr", "127.0.0.1:0", "--database-url-file", file, "--redis-url",
		redistest.Start(t).URL()})
	require.NoError(t, err)
	r := start(t, cfg)
	pool := r.Server.db.SQL()
	_, err = pool.Exec(`CREATE ROLE waitroom_next LOGIN SUPERUSER PASSWORD 'next'`)
	require.NoError(t, err)
	at.User = url.UserPassword("waitroom_next", "next")
	require.NoError(t, os.WriteFile(file, []byte(at.String()), 0o600))
	pool.SetMaxIdleConns(0) // every later use is a new connection
	require.Eventually(t, func() bool {
		var user string
		return pool.QueryRow(`SELECT current_user`).Scan(&user) == nil && user == "waitroom_next"
	}, time.Minute, 10*time.Millisecond)
}
