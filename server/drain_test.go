package server

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/admission"
)

func TestDrainReconnectsEverySocketAndKeepsEveryPlace(t *testing.T) {
	redis := redistest.Lent(t)
	leaving, staying := start(t, config(t, "--redis-url", redis.URL())),
		start(t, config(t, "--redis-url", redis.URL()))
	a, b := newSeller(t, leaving.URL(), "a"), newSeller(t, leaving.URL(), "b")
	a.join()
	b.join()
	conns := []*websocket.Conn{
		open(t, leaving.URL(), "X-Session-ID", a.session), open(t, leaving.URL(), "X-Session-ID", b.session),
		open(t, leaving.URL()),
	}
	for _, conn := range conns {
		next(t, conn)
	}
	ended := make(chan error, 1)
	go func() { ended <- leaving.stop(t) }()
	for _, conn := range conns {
		require.EqualValues(t, 4001, closing(t, conn))
	}
	require.NoError(t, <-ended)
	_, err := a.http.Get(leaving.URL() + "/healthz")
	require.Error(t, err, "nobody listens any more")

	b.base = staying.URL()
	conn := open(t, staying.URL(), "X-Session-ID", b.session)
	require.Equal(t, "waiting", next(t, conn)["status"])
	require.EqualValues(t, 2, b.status().me().number("ticket"))
}

func TestServerThatCannotReachItsStoreSaysWhichSettingAndNoPassword(t *testing.T) {
	t.Parallel() // it waits
	redis := redistest.Start(t)
	redis.Stop()
	cfg := config(t, "--redis-url", "redis://:hush%21@"+redis.Addr())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := New(ctx, cfg, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "WAITROOM_REDIS_URL")
	require.ErrorContains(t, err, redis.Addr())
	require.NotContains(t, err.Error(), "hush")
}

func TestServerThatMistakesItsRedisSaysWhatToDo(t *testing.T) {
	plain, node := redistest.Lent(t).Addr(), redistest.StartKept(t, "--cluster-enabled", "yes").URL()
	for url, do := range map[string]string{"rediss://" + plain: "does it speak TLS at all?",
		"redis+cluster://" + plain:         "It is no Redis Cluster",
		"redis+sentinel://" + plain + "/m": "These addresses are no sentinels", node: "redis+cluster://h1:p,h2:p",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := New(ctx, config(t, "--redis-url", url), slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "WAITROOM_REDIS_URL (--redis-url): ")
		require.ErrorContains(t, err, do)
	}
}

func TestServerThatIsStoppedWhileRedisIsSilentEndsWell(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		if c, err := silent.Accept(); err == nil { // it asks, and hears nothing
			stop()
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	var log testproc.Log
	cfg := config(t, "--redis-url", "redis://"+silent.Addr().String())
	require.NoError(t, Run(ctx, cfg, cfg.NewLog(&log)))
	require.Contains(t, log.String(), "stopped before it served")

	store := redistest.Start(t)
	r := start(t, config(t, "--redis-url", store.URL(), "--drain-timeout", "1s"))
	store.Pause()
	defer store.Resume()
	require.NoError(t, r.stop(t))
}

func TestServerWhoseAddressIsTakenSaysWhichSetting(t *testing.T) {
	r := start(t, config(t))
	_, err := New(t.Context(), config(t, "--addr", r.Addr()), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "WAITROOM_ADDR (--addr) is "+strconv.Quote(r.Addr())+": listen tcp")
	require.ErrorContains(t, err, ": stop the program that listens there (ss -ltnp names it), or choose another port")
	_, err = New(t.Context(), config(t, "--metrics-addr", "192.0.2.1:9090"), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "WAITROOM_METRICS_ADDR (--metrics-addr) is")
	require.ErrorContains(t, err, ": name an address of this machine")
	require.Equal(t, "choose a port above 1023, or give the user CAP_NET_BIND_SERVICE",
		admission.ListenRemedy(os.NewSyscallError("bind", syscall.EACCES)))
}

func TestLogSaysWhereToGoAndNamesNoSession(t *testing.T) {
	redis := redistest.Start(t)
	require.NoError(t, redis.Client().ConfigSet(t.Context(), "requirepass", "hush").Err())
	var log testproc.Log
	cfg := config(t, "--redis-url", "redis://:hush@"+redis.Addr(), "--log-level", "debug")
	s, err := New(t.Context(), cfg, cfg.NewLog(&log))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	a := newSeller(t, s.URL(), "a")
	a.join()
	a.ask(http.MethodGet, lockPath+"/status?token=hushhush", "")
	cancel()
	require.NoError(t, <-done)
	require.Contains(t, log.String(), "waitroom is open at "+s.URL())
	require.Contains(t, log.String(), redis.Addr())
	require.Contains(t, log.String(), "path=/api/integration/lock ")
	require.NotContains(t, log.String(), a.session)
	require.NotContains(t, log.String(), "hush")
}

func TestRequestUnderWayIsAnsweredBeforeTheServerEnds(t *testing.T) {
	store := redistest.Lent(t)
	proxy := store.Proxy()
	r := start(t, config(t, "--redis-url", proxy.URL(), "--rate-limit", "0", "--places-per-ip", "0"))
	a := newSeller(t, r.URL(), "a")
	a.join() // so that the next join is one question to the store
	a.leave("")
	proxy.Blackhole(redistest.ToClient)
	a.session = "" // a request without a session stands for no place: nothing is asked before the join
	answered := make(chan reply, 1)
	go func() { answered <- a.join() }()
	testproc.Until(t, patience, func() error {
		return store.Client().Get(t.Context(),
			room.LockKey("integration")).Err()
	})

	r.end()
	testproc.Until(t, patience, func() error {
		conn, err := net.Dial("tcp", r.Addr())
		if err != nil {
			return nil
		}
		_ = conn.Close()
		return errors.New("it still listens")
	})
	proxy.Heal()
	got := <-answered
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	require.EqualValues(t, 2, got.number("ticket"))
	require.NoError(t, r.stop(t))
}

func TestStoppingServerServesForAWhileThoughItHasNoSockets(t *testing.T) {
	t.Parallel() // it waits
	r := start(t, config(t, "--min-drain", "6s", "--drain-timeout", "20s"))
	s := newSeller(t, r.URL(), "a")
	r.end()
	require.Equal(t, "draining", readiness(t, s, http.StatusServiceUnavailable)["server"])
	require.Equal(t, http.StatusOK, s.join().StatusCode, "who balances has not noticed yet")
	require.NoError(t, r.stop(t))
}

func TestStoreThatIsAwayFillsNoLog(t *testing.T) {
	store := redistest.Start(t)
	r, log := logged(t, "--redis-url", store.URL())
	s := newSeller(t, r.URL(), "a")
	store.Stop()
	var group sync.WaitGroup
	for range 20 { // at once: failures in different seconds would each be logged
		group.Go(func() {
			if got := s.ask(http.MethodGet, lockPath+"/status", ""); got.text("code") != "store_unavailable" {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		})
	}
	group.Wait()
	require.NoError(t, r.stop(t))
	require.Less(t, strings.Count(log.String(), "route=/api/:room/lock/status"), 20)
	require.Contains(t, log.String(), "requests failed: the store is away")
}

// The journals of the embedded store end with the process, so the server has to drain them first.
func TestWhatWasAnsweredBeforeTheServerEndsIsInTheLedgerAndTheOutbox(t *testing.T) {
	cfg := config(t, append(supportArgs(t), "--redis-url", "embedded", "--webhook-url", "http://127.0.0.1:1/",
		"--webhook-secret", smsSecret, "--drain-timeout", "20s")...)
	r := start(t, cfg)
	kim, a, b := newAgent(t, r.URL(), "kim"), newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	kim.mustAct("pause", `{"reason":"the market is closed"}`)
	kim.mustAct("resume", `{"reason":"it is open"}`)
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	require.Equal(t, http.StatusAccepted, b.join().StatusCode)
	require.Equal(t, http.StatusOK, a.leave("?reason=completed").StatusCode)
	require.NoError(t, r.stop(t))

	db, err := sql.Open("sqlite", strings.TrimPrefix(string(cfg.DatabaseURL), "sqlite:"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	rows := func(query string) (list string) {
		t.Helper()
		require.NoError(t, db.QueryRow("SELECT COALESCE(group_concat(found, ', '), '') FROM ("+query+
			")").Scan(&list))
		return list
	}
	require.Equal(t, "signed_in, pause, resume", rows("SELECT action AS found FROM actions ORDER BY at"))
	require.Equal(t, "1 completed, 2 open",
		rows("SELECT ticket || ' ' || COALESCE(outcome, 'open') AS found FROM leases ORDER BY fence"))
	require.Equal(t, "lock.granted, lock.ended, lock.granted",
		rows("SELECT json_extract(payload, '$.type') AS found FROM outbox_tasks ORDER BY id"))
}

func TestServerEndsInTimeWhereTheLedgerTakesNothingIn(t *testing.T) {
	t.Parallel() // it waits
	onBothStores(t, func(t *testing.T, store string) {
		database, away, _ := cutOffDatabase(t)
		r, log := logged(t, "--redis-url", store, "--database-url", database, "--drain-timeout", "2s")
		away()
		a := newSeller(t, r.URL(), "a")
		require.Eventually(t, func() bool { return a.join().StatusCode == http.StatusOK }, patience,
			10*time.Millisecond, "a busy machine may answer 503 first")
		require.NoError(t, r.stop(t))
		require.Equal(t, store == "embedded", strings.Contains(log.String(), "the embedded store forgets"),
			"another store keeps it for other replicas")
		require.NotContains(t, log.String(), "requests were cut off")
	})
}
