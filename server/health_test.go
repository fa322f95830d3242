package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/ledger"
)

// readiness waits until /readyz answers with a status, and returns its body.
func readiness(t *testing.T, s *seller, status int) map[string]any {
	t.Helper()
	var checks map[string]any
	testproc.Until(t, patience, func() error {
		got := s.ask(http.MethodGet, "/readyz", "")
		checks, _ = got.json["checks"].(map[string]any)
		if got.StatusCode != status {
			return fmt.Errorf("readyz: %d %s", got.StatusCode, got.body)
		}
		return nil
	})
	return checks
}

func TestReadinessFollowsRedisAndLivenessDoesNot(t *testing.T) {
	t.Parallel() // it waits
	redis := redistest.Start(t)
	r := start(t, config(t, append(supportArgs(t), "--redis-url", redis.URL(), "--sms-sources",
		"gateway=android-sms-gateway:"+sourceSecret)...))
	s, kim := newSeller(t, r.URL(), "a"), newAgent(t, r.URL(), "kim")
	require.Equal(t, map[string]any{"server": "ok", "redis": "ok", "subscription": "ok", "ledger": "ok"},
		readiness(t, s, http.StatusOK))

	redis.Stop()
	require.Equal(t, "unavailable", readiness(t, s, http.StatusServiceUnavailable)["redis"])
	require.Equal(t, http.StatusOK, s.ask(http.MethodGet, "/healthz", "").StatusCode)
	requireProblem(t, s.join(), http.StatusServiceUnavailable, "store_unavailable")
	requireProblem(t, s.ask(http.MethodGet, lockPath+"/status", ""), http.StatusServiceUnavailable,
		"store_unavailable")
	page := s.ask(http.MethodGet, "/", "", "Accept", "text/html")
	require.Equal(t, http.StatusServiceUnavailable, page.StatusCode)
	require.Contains(t, page.body, "지금은 대기실을 열\u00a0수 없어요")
	requireAway(t, r, s, kim)

	redis.Restart()
	require.Equal(t, map[string]any{"server": "ok", "redis": "ok", "subscription": "ok", "ledger": "ok"},
		readiness(t, s, http.StatusOK))
	require.Equal(t, http.StatusOK, s.join().StatusCode)
}

func TestReadinessSaysThatTheStoreRefusesWritesAndQuestionsAreStillAnswered(t *testing.T) {
	t.Parallel() // it waits
	redis := redistest.Start(t)
	r := start(t, config(t, "--redis-url", redis.URL()))
	a, b, c := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c")
	a.join()
	b.join()
	for setting, values := range map[string][2]string{"maxmemory": {"1", "0"},
		"min-replicas-to-write": {"1", "0"}} {
		set := func(value string) {
			require.NoError(t,
				redis.Client().ConfigSet(t.Context(), setting, value).Err())
		}
		readiness(t, a, http.StatusOK)
		set(values[0])
		require.Equal(t, "refuses_writes", readiness(t, a, http.StatusServiceUnavailable)["redis"], setting)
		requireProblem(t, c.join(), http.StatusServiceUnavailable, "store_unavailable")

		require.Equal(t, "locked", a.status().me().text("status"), setting)
		require.EqualValues(t, 1, b.status().me().number("queue_position"), setting)
		require.Equal(t, http.StatusOK, b.ask(http.MethodGet, "/", "", "Accept", "text/html").StatusCode, setting)
		require.Equal(t, "waiting", next(t, open(t, r.URL(), "X-Session-ID", b.session))["status"], setting)

		set(values[1])
		require.Equal(t, "ok", readiness(t, a, http.StatusOK)["redis"], setting)
		require.Equal(t, http.StatusAccepted, c.join().StatusCode, setting)
		require.Equal(t, http.StatusOK, c.leave("").StatusCode, setting)
	}
}

func TestRedisThatEvictsIsAWarningAtTheStartAndInReadiness(t *testing.T) {
	redis := redistest.Start(t)
	require.NoError(t, redis.Client().ConfigSet(t.Context(), "maxmemory-policy", "volatile-lru").Err())
	r, log := logged(t, "--redis-url", redis.URL())
	require.Contains(t, log.String(), "maxmemory-policy is volatile-lru")
	a := newSeller(t, r.URL(), "a")
	require.Equal(t, "evicts", readiness(t, a, http.StatusOK)["memory"])
	require.NoError(t, redis.Client().ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
	require.Eventually(t, func() bool { return readiness(t, a, http.StatusOK)["memory"] == nil }, patience,
		50*time.Millisecond)
}

func TestReadinessSaysThatTheLedgersFileIsNoLongerThere(t *testing.T) {
	cfg := config(t)
	r := start(t, cfg)
	a := newSeller(t, r.URL(), "a")
	require.Equal(t, "ok", readiness(t, a, http.StatusOK)["ledger"])
	path := strings.TrimPrefix(string(cfg.DatabaseURL), "sqlite:")
	require.NoError(t, os.Rename(path, path+".away"))
	require.Eventually(t, func() bool { return readiness(t, a, http.StatusOK)["ledger"] == "behind" }, patience,
		10*time.Millisecond)
	require.NoError(t, os.Rename(path+".away", path))
	require.Eventually(t, func() bool { return readiness(t, a, http.StatusOK)["ledger"] == "ok" }, patience,
		10*time.Millisecond)
}

func TestReadinessSaysThatTheServerIsDraining(t *testing.T) {
	h := &health{}
	h.draining.Store(true)
	w := httptest.NewRecorder()
	h.ready(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.JSONEq(t, `{"status":"not_ready","checks":{"server":"draining"}}`, w.Body.String())
}

func TestSoftCheckIsReportedAndDoesNotCount(t *testing.T) {
	h := &health{checks: []check{{name: "ledger", bad: "behind", soft: true,
		ask: func(context.Context) error { return errors.New("behind") }}}}
	w := httptest.NewRecorder()
	h.ready(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{"status":"ready","checks":{"server":"ok","ledger":"behind"}}`, w.Body.String())
}

func TestMetricsAreByRouteAndNameNoSeller(t *testing.T) {
	r := start(t, config(t, "--rooms", "integration,stock:*"))
	a := newSeller(t, r.URL(), "seller-canary")
	a.join()
	a.joinRoom("stock:canary", "")
	got := a.ask(http.MethodGet, "/metrics", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Contains(t, got.body, `waitroom_http_requests_total{method="POST",route="/api/:room/lock",status="200"} 2`)
	require.Contains(t, got.body, "go_goroutines")
	require.Contains(t, got.body, "process_resident_memory_bytes")
	require.NotContains(t, got.body, "canary")
	require.NotContains(t, got.body, a.session)
}

// Nothing happens in the room when the database is back: each replica finds out by itself that everything is
// recorded.
func TestEveryReplicaSaysThatTheLedgerIsWholeSoonAfterTheDatabaseIsBack(t *testing.T) {
	t.Parallel() // it waits
	database, away, back := cutOffDatabase(t)
	args := []string{"--redis-url", redistest.Lent(t).URL(), "--database-url", database}
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	a := newSeller(t, one.URL(), "a")
	until := func(within time.Duration, says string) {
		t.Helper()
		for _, r := range []*replica{one, other} {
			testproc.Until(t, within, func() error {
				got := newSeller(t, r.URL(), "b").ask(http.MethodGet, "/readyz", "")
				if checks, _ := got.json["checks"].(map[string]any); checks["ledger"] != says {
					return fmt.Errorf("readyz: %s", got.body)
				}
				if says == "ok" && (r.ledger.Status() != ledger.Status{}) {
					return fmt.Errorf("ledger: %+v", r.ledger.Status())
				}
				return nil
			})
		}
	}
	a.join()
	a.leave("")
	until(patience, "ok")
	testproc.Until(t, patience, func() error { return recorded(t, one, 1) })

	away()
	joined := 1
	for ; joined < 20 || one.ledger.Status().Since.IsZero() || other.ledger.Status().Since.IsZero(); joined++ {
		a.base = one.URL()
		require.Equal(t, http.StatusOK, a.join().StatusCode)
		a.base = other.URL()
		require.Equal(t, http.StatusOK, a.leave("").StatusCode)
	}
	until(patience, "behind")
	back()
	testproc.Until(t, patience, func() error { return recorded(t, one, joined) })
	until(30*time.Second, "ok") // before the ledger is reconciled
}

// recorded returns nil once the ledger has a number of ended leases.
func recorded(t *testing.T, r *replica, want int) error {
	t.Helper()
	var have int
	err := r.db.SQL().QueryRow("SELECT COUNT(*) FROM leases WHERE outcome IS NOT NULL").Scan(&have)
	if err == nil && have != want {
		err = fmt.Errorf("%d leases of %d", have, want)
	}
	return err
}
