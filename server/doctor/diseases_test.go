package doctor_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/sqlitetest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server"
)

// disease is a misconfiguration, and what the doctor has to print about it.
type disease struct {
	make  func(t *testing.T) server.Config
	about string
	said  string
	do    string
}

const misspelt = "a misspelt setting"

var diseases = map[string]disease{
	misspelt: {func(t *testing.T) server.Config {
		t.Setenv("WAITROOM_LAESE", "1m")
		return sound(t)
	}, "settings", "WAITROOM_LAESE is no setting", "Correct its name"},
	"a short secret": {func(t *testing.T) server.Config {
		return sound(t, "--webhook-url", "https://integration.example", "--webhook-secret", "whsec_YWJj")
	}, "settings", "WAITROOM_WEBHOOK_SECRET has 3 bytes", "openssl rand"},
	"a rooms file with a fault": {func(t *testing.T) server.Config {
		return sound(t, "--rooms-file", roomsFile(t, "integration: {nmae: x}"))
	}, "rooms", "rooms.yaml:1: integration: nmae is no key: do you mean name?", "Correct it"},
	"a port that another program has": {func(t *testing.T) server.Config {
		other := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(other.Close)
		return sound(t, "--addr", other.Listener.Addr().String())
	}, "ports", "taken by another program", "ss -ltnp"},
	"no Redis": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", fmt.Sprintf("redis://127.0.0.1:%d", testproc.FreePort(t)))
	}, "redis", "does not answer", "Is it up"},
	"a wrong password": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", "redis://:hush@"+locked(t).Addr())
	}, "redis", "WRONGPASS", "password in WAITROOM_REDIS_URL"},
	"no password": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", locked(t).URL())
	}, "redis", "NOAUTH", "asks for a password"},
	"TLS to a Redis without": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", "rediss://"+redistest.Lent(t).Addr())
	}, "redis", "does not answer", "does it speak TLS at all?"},
	"a cluster that is none": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", "redis+cluster://"+redistest.Lent(t).Addr())
	}, "redis", "does not answer", "It is no Redis Cluster"},
	"sentinels that are none": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", "redis+sentinel://"+redistest.Lent(t).Addr()+"/main")
	}, "sentinel", "does not answer", "These addresses are no sentinels"},
	"a cluster's node as a Redis": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", redistest.StartKept(t, "--cluster-enabled", "yes").URL())
	}, "redis", "it is one node of a Redis Cluster: redis+cluster://", "Correct WAITROOM_REDIS_URL"},
	"a sentinel as a Redis": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", "redis://"+redistest.StartSentinel(t).Addrs()[0])
	}, "redis", "it is a sentinel, which has no data: redis+sentinel://", "Correct WAITROOM_REDIS_URL"},
	"a Redis that keeps nothing": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", redistest.Lent(t).URL())
	}, "redis", "no append-only file", "appendonly yes"},
	"a Redis that evicts": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", redistest.StartKept(t, "--maxmemory", "100mb", "--maxmemory-policy",
			"allkeys-lru").URL())
	}, "redis", "allkeys-lru", "maxmemory-policy noeviction"},
	"a Redis that is full": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", redistest.StartKept(t, "--maxmemory", "1").URL())
	}, "redis", "It refuses writes", "Raise maxmemory"},
	"replicas that are gone": {func(t *testing.T) server.Config {
		return sound(t, "--redis-url", redistest.StartKept(t, "--min-replicas-to-write", "1").URL())
	}, "redis", "It refuses writes", "min-replicas-to-write"},
	"a replica for the master": {func(t *testing.T) server.Config {
		master := redistest.StartKept(t)
		host, port, err := net.SplitHostPort(master.Addr())
		require.NoError(t, err)
		return sound(t, "--redis-url", redistest.StartKept(t, "--replicaof", host+" "+port).URL())
	}, "redis", "It is a replica of 127.0.0.1", "redis+sentinel://"},
	"a user without rights": {func(t *testing.T) server.Config {
		s := redistest.StartKept(t, "--user", "app", "on", ">app", "~{*}:*", "&*", "+@all", "-zadd",
			"-publish")
		return sound(t, "--redis-url", "redis://app:app@"+s.Addr())
	}, "redis", "The user may not: PUBLISH, ZADD", "ACL SETUSER"},
	"a user without the rooms' keys": {func(t *testing.T) server.Config {
		s := redistest.StartKept(t, "--user", "app", "on", ">app", "~app:*", "&*", "+@all")
		return sound(t, "--redis-url", "redis://app:app@"+s.Addr())
	}, "redis", "{integration}:*", "ACL SETUSER"},
	"a user without channels": {func(t *testing.T) server.Config {
		s := redistest.StartKept(t, "--user", "app", "on", ">app", "~*", "+@all")
		return sound(t, "--redis-url", "redis://app:app@"+s.Addr())
	}, "redis", "SUBSCRIBE {integration}:events", "&{*}:*"},
	"a database's address with a setting that there is not": {func(t *testing.T) server.Config {
		return sound(t, "--database-url", "postgres://u:canary@127.0.0.1:1/d?sslmode=requird")
	}, "database", "sslmode is invalid", "Correct WAITROOM_DATABASE_URL"},
	"no database of that name": {func(t *testing.T) server.Config {
		return sound(t, "--database-url", strings.Replace(pgtest.Start(t).URL(), "/test_", "/nothere_", 1))
	}, "database", "does not exist", "CREATE DATABASE"},
	"a database's user without rights": {func(t *testing.T) server.Config {
		url := pgtest.Start(t).URL()
		ask(t, url, "CREATE ROLE nobody_much LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		return sound(t, "--database-url", strings.Replace(url, "postgres@", "nobody_much@", 1))
	}, "database", "may make no tables in the schema public", "GRANT CREATE"},
	"a database that is read-only": {func(t *testing.T) server.Config {
		url := pgtest.Start(t).URL()
		return sound(t, "--database-url", url+"&default_transaction_read_only=on")
	}, "database", "read only", "default_transaction_read_only"},
	"a pooler that does not let a setting through": {func(t *testing.T) server.Config {
		return sound(t, "--database-url", pgtest.Pooler(t, pgtest.Start(t).URL())+"&statement_timeout=10s")
	}, "database", "unsupported startup parameter: statement_timeout", "ignore_startup_parameters"},
	"a database that has not every letter": {func(t *testing.T) server.Config {
		return sound(t, "--database-url", pgtest.Start(t).URLIn("LATIN1"))
	}, "database", "Its encoding is LATIN1", "ENCODING 'UTF8' TEMPLATE template0"},
	"a ledger's file that may not be written": {func(t *testing.T) server.Config {
		return sound(t, "--database-url", "sqlite:"+sqlitetest.ReadOnly(t))
	}, "database", "can not be written", "the right to write there"},
	"a ledger that is no database": {func(t *testing.T) server.Config {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
		return sound(t, "--database-url", "sqlite:"+path)
	}, "database", "can not be written", "It is no SQLite database: name another path"},
	"a ledger's file in a file": {func(t *testing.T) server.Config {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return sound(t, "--database-url", "sqlite:"+path+"/waitroom.db")
	}, "database", "is no directory", "Name another path"},
}

// locked starts a Redis that requires a password.
func locked(t *testing.T) *redistest.Server {
	t.Helper()
	s := redistest.StartKept(t)
	require.NoError(t, s.Client().ConfigSet(t.Context(), "requirepass", "right").Err())
	return s
}

func ask(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, s := range statements {
		_, err := conn.Exec(t.Context(), s)
		require.NoError(t, err)
	}
}

func TestDoctorHintsAtWhatIsAllowedAndUnwise(t *testing.T) {
	store := redistest.StartKept(t).URL()
	for _, all := range []string{"0.0.0.0/0", "10.0.0.1,::/0"} {
		said, well := diagnosed(t, sound(t, "--redis-url", store, "--trusted-proxies", all))
		require.True(t, well, said)
		require.Regexp(t, "(?m)^hint +settings +Every address is a trusted proxy.*\n.*→ Set "+
			"WAITROOM_TRUSTED_PROXIES", said)
	}
}

func TestDoctorSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	pgtest.Start(t) // for all of them
	for name, d := range diseases {
		t.Run(name, func(t *testing.T) {
			if name != misspelt { // which is a variable of the whole process
				t.Parallel()
			}
			cfg := d.make(t)
			said, well := diagnosed(t, cfg)
			require.False(t, well, said)
			require.Regexp(t,
				"(?m)^WRONG +"+d.about+" +.*"+regexp.QuoteMeta(d.said)+".*\n.*→.*"+regexp.QuoteMeta(d.do),
				said)
			for _, secret := range []string{"hush", "whsec_", "YWJj"} {
				require.NotContains(t, said, secret)
			}
			for line := range strings.Lines(said) {
				if strings.HasPrefix(line, "WRONG") {
					require.Regexp(t, "^WRONG +"+d.about+" ", line, "nothing else is wrong")
				}
			}
		})
	}
}

func TestDoctorSaysNoPartOfAPasswordAndLeavesAllElseAsItIs(t *testing.T) {
	port := fmt.Sprint(testproc.FreePort(t))
	for _, url := range []string{
		"postgres://u:canary@127.0.0.1:" + port + "/d", "postgres://u:x@canary@127.0.0.1:" + port + "/d",
		"postgres://u:" + port + "/canary@127.0.0.1/d",
		"postgres://127.0.0.1:" + port + "/d?user=u&password=canary", "postgres://u:%zzcanary@127.0.0.1/d",
		"postgres://u:" + port + "?canary=1@127.0.0.1/d",
	} {
		said, well := diagnosed(t, sound(t, "--database-url", url))
		require.False(t, well, url)
		require.NotContains(t, said, "canary", url)
		db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
		if err == nil { // it is only away
			_, err = db.State()
			require.NoError(t, db.Close())
		}
		require.NotContains(t, err.Error(), "canary", url)
	}
	said, _ := diagnosed(t, sound(t, "--database-url", "postgres://u:a@127.0.0.1:"+port+"/database"))
	require.Contains(t, said, "failed to connect to `user=u database=database`")
	require.NotContains(t, said, "***")
}

func TestDoctorSaysWhetherTheCollectorIsThere(t *testing.T) {
	traced := func(endpoint string) server.Config {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
		return sound(t)
	}
	said, well := diagnosed(t, traced(fmt.Sprintf("http://127.0.0.1:%d", testproc.FreePort(t))))
	require.True(t, well, "nothing rests on it")
	require.Contains(t, said, "The collector can not be reached")
	there := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(there.Close)
	said, _ = diagnosed(t, traced(there.URL))
	require.Contains(t, said, "can be reached")
}

func TestDoctorFindsAClockThatIsOff(t *testing.T) {
	m := redistest.StartEmbedded(t)
	m.SetTime(time.Now().Add(10 * time.Minute)) // and stands still
	said, well := diagnosed(t, sound(t, "--redis-url", "redis://"+m.Addr()))
	require.False(t, well)
	require.Regexp(t, `WRONG +redis +Its clock is (10m0s|9m[0-9.]+s) off this host's`, said)
}

func TestDoctorSaysHowTheEngineIsCalled(t *testing.T) {
	said, well := diagnosed(t, sound(t, "--redis-url", redistest.StartKept(t).URL()))
	require.True(t, well, said)
	require.Contains(t, said, "The engine is called by its functions.")
	s := redistest.StartKept(t, "--user", "app", "on", ">app", "~*", "&*", "+@all", "-fcall", "-fcall_ro")
	said, well = diagnosed(t, sound(t, "--redis-url", "redis://app:app@"+s.Addr()))
	require.True(t, well, said)
	require.Contains(t, said, "as a script, which takes about two thirds more of its time: the user may "+
		"not call functions")
}

func TestDoctorHintsAtARetentionThatForgetsTooSoon(t *testing.T) {
	said, well := diagnosed(t, sound(t, "--redis-url", redistest.StartKept(t).URL(), "--database-url",
		pgtest.Start(t).URL(), "--retention", "3d"))
	require.True(t, well, said)
	require.Regexp(t, `hint +settings +The ledger forgets after 72h: .*\n.*→ Set WAITROOM_RETENTION`, said)
}
