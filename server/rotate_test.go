package server

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
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

// A file that cannot be used breaks nothing until the old password ends, so the log has to say it before.
func TestAFileOfASettingThatCannotBeUsedIsLogged(t *testing.T) {
	for name, broken := range map[string]string{
		"redis-url":    "redis://hush#x@localhost",
		"database-url": "mysql://hush@localhost",
	} {
		t.Run(name, func(t *testing.T) {
			store := redistest.Start(t)
			urls := map[string]string{"redis-url": store.URL(), "database-url": pgtest.Start(t).URL()}
			file := filepath.Join(t.TempDir(), name)
			write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
			args := []string{"--addr", "127.0.0.1:0"}
			for setting, at := range urls {
				if setting == name {
					write(at)
					setting, at = setting+"-file", file
				}
				args = append(args, "--"+setting, at)
			}
			var log testproc.Log
			cfg, err := ParseConfig(args)
			require.NoError(t, err)
			s, err := New(t.Context(), cfg, cfg.NewLog(&log))
			require.NoError(t, err)
			r := run(t, s)
			write(broken)
			require.NoError(t, store.Client().Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
			r.Server.db.SQL().SetMaxIdleConns(0) // every later use is a new connection
			a := newSeller(t, r.URL(), "a")
			require.Eventually(t, func() bool { return a.join().StatusCode == http.StatusOK }, time.Minute,
				10*time.Millisecond)
			named := "WAITROOM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
			require.Eventually(t, func() bool {
				_ = r.Server.db.SQL().PingContext(t.Context())
				said := log.String()
				return strings.Contains(said, "level=ERROR") && strings.Contains(said, named)
			}, time.Minute, 10*time.Millisecond)
			require.NotContains(t, log.String(), "hush")
		})
	}
}
