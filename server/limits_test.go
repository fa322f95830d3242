package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// logged starts a server and returns its log, too.
func logged(t *testing.T, args ...string) (*replica, *testproc.Log) {
	t.Helper()
	var log testproc.Log
	cfg := config(t, args...)
	s, err := New(t.Context(), cfg, cfg.NewLog(&log))
	require.NoError(t, err)
	return run(t, s), &log
}

func TestAddressHasSoManyPlacesOverAllRoomsAndReplicas(t *testing.T) {
	store := redistest.Lent(t)
	args := []string{"--redis-url", store.URL(), "--rooms", "integration,stock:*", "--places-per-ip", "3"}
	here, log := logged(t, args...)
	there := start(t, config(t, args...))
	sellers := make([]*seller, 5)
	for i := range sellers {
		sellers[i] = newSeller(t, here.URL(), string(rune('a'+i)))
	}
	a, b, c, d, e := sellers[0], sellers[1], sellers[2], sellers[3], sellers[4]
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	require.Equal(t, http.StatusAccepted, b.at(there.URL()).join().StatusCode)
	require.Equal(t, http.StatusOK, c.joinRoom("stock:1", "").StatusCode)
	for _, base := range []string{here.URL(), there.URL()} {
		got := d.at(base).joinRoom("stock:2", "")
		requireProblem(t, got, http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, "1", got.Header.Get("Retry-After"))
		require.Equal(t, "free", d.at(base).ask(http.MethodGet, "/api/stock:2/lock/status", "").text("status"))
		require.Equal(t, http.StatusAccepted, b.at(base).join().StatusCode, "the same place is answered again")
	}
	require.Equal(t, 1, strings.Count(log.String(), "setting=WAITROOM_PLACES_PER_IP"))
	requireProblem(t, d.join(), http.StatusTooManyRequests, "too_many_requests")

	require.Equal(t, http.StatusOK, a.leave("?reason=completed").StatusCode)
	require.Equal(t, http.StatusAccepted, d.join().StatusCode, "a place that has ended is not counted")
	requireProblem(t, e.join(), http.StatusTooManyRequests, "too_many_requests")

	require.NoError(t, store.Client().Del(t.Context(), keysLike(t, store, "{waitroom-limit:*")...).Err())
	require.Equal(t, http.StatusOK, a.joinRoom("stock:3", "").StatusCode)
	require.Equal(t, http.StatusOK, a.joinRoom("stock:4", "").StatusCode)
	require.Equal(t, http.StatusOK, a.joinRoom("stock:5", "").StatusCode)
	requireProblem(t, e.join(), http.StatusTooManyRequests, "too_many_requests")
	require.Equal(t, http.StatusAccepted, d.join().StatusCode, "a session with a place from elsewhere gets it")
}

func TestAddressHasTwentyPlacesInOneRoomAndMoreInOthers(t *testing.T) {
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--rooms", "integration,stock:*"))
	for i := range 20 {
		require.Less(t, newSeller(t, r.URL(), fmt.Sprint("s-", i)).join().StatusCode, 300)
	}
	late := newSeller(t, r.URL(), "late")
	requireProblem(t, late.join(), http.StatusTooManyRequests, "too_many_requests")
	require.Equal(t, http.StatusOK, late.joinRoom("stock:1", "").StatusCode)
	off := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--places-per-ip", "0"))
	for i := range 22 {
		require.Less(t, newSeller(t, off.URL(), fmt.Sprint("s-", i)).join().StatusCode, 300)
	}
}

func keysLike(t *testing.T, store *redistest.Server, pattern string) []string {
	t.Helper()
	keys, err := store.Client().Keys(t.Context(), pattern).Result()
	require.NoError(t, err)
	return keys
}

func TestRefusedJoinCountsAsNoPlace(t *testing.T) {
	r := start(t, config(t, "--places-per-ip", "2"))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	for range 3 {
		requireProblem(t, newSeller(t, r.URL(), "a").join(), http.StatusConflict, "seller_has_place")
		requireProblem(t, newSeller(t, r.URL(), "c").joinRoom("integration", "?wait=false"), http.StatusConflict,
			"lock_held")
	}
	require.Equal(t, http.StatusAccepted, b.join().StatusCode)
}

func TestNewRoomsAreCountedWithJoinsOverAllReplicas(t *testing.T) {
	store := redistest.Lent(t)
	args := []string{"--redis-url", store.URL(), "--rooms", "stock:*", "--rate-limit", "12/m"}
	here, log := logged(t, args...)
	there := start(t, config(t, args...))
	a := newSeller(t, here.URL(), "a")
	require.Equal(t, http.StatusOK, a.joinRoom("stock:1", "").StatusCode)
	require.Equal(t, http.StatusOK, a.at(there.URL()).joinRoom("stock:2", "").StatusCode)
	for _, base := range []string{here.URL(), there.URL()} {
		got := a.at(base).joinRoom("stock:3", "")
		requireProblem(t, got, http.StatusTooManyRequests, "too_many_requests")
		require.Contains(t, []string{"1", "2", "3", "4", "5"}, got.Header.Get("Retry-After"))
	}
	require.Empty(t, keysLike(t, store, "{stock:3}*"), "nothing is made")
	require.Contains(t, log.String(), "setting=WAITROOM_RATE_LIMIT")
	require.NotContains(t, strings.Join(keysLike(t, store, "*"), " "), "127.0.0.1")
}

func TestRoomTakesSoManyWaiters(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r, log := logged(t, "--redis-url", store, "--room-limit", "2", "--places-per-ip", "0")
		a, b, c, d := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c"),
			newSeller(t, r.URL(), "d")
		require.Equal(t, http.StatusOK, a.join().StatusCode)
		require.Equal(t, http.StatusAccepted, b.join().StatusCode)
		require.Equal(t, http.StatusAccepted, c.join().StatusCode)
		got := d.join()
		requireProblem(t, got, http.StatusServiceUnavailable, "room_full")
		require.NotEmpty(t, got.Header.Get("Retry-After"))
		require.Equal(t, http.StatusAccepted, c.join().StatusCode, "a waiting session gets its place")
		require.Equal(t, http.StatusOK, a.join().StatusCode)
		require.EqualValues(t, 2, d.status().number("queue_length"))
		require.Contains(t, log.String(), "setting=WAITROOM_ROOM_LIMIT")
		require.Equal(t, http.StatusOK, c.leave("").StatusCode)
		require.EqualValues(t, 4, d.join().number("ticket"), "a refused join uses no ticket")
	})
}

func TestAddressHasSoManySockets(t *testing.T) {
	r, log := logged(t, "--sockets-per-ip", "2")
	first, second := open(t, r.URL()), open(t, r.URL())
	next(t, first)
	next(t, second)
	_, resp, err := dial(t, r.URL())
	require.Error(t, err)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.NotEmpty(t, resp.Header.Get("Retry-After"))
	require.Contains(t, log.String(), "setting=WAITROOM_SOCKETS_PER_IP")
	_, resp, err = dial(t, r.URL(), "Origin", "https://evil.example")
	require.Error(t, err)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)

	require.NoError(t, first.Close(websocket.StatusNormalClosure, ""))
	require.Eventually(t, func() bool {
		conn, _, err := dial(t, r.URL())
		return err == nil && next(t, conn)["type"] == "state"
	}, patience, patience/1000)
	_, resp, err = dial(t, r.URL())
	require.Error(t, err)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
}

func TestUpgradeThatIsRefusedIsNoSocket(t *testing.T) {
	r := start(t, config(t, "--sockets-per-ip", "1"))
	for range 3 {
		_, resp, err := dial(t, r.URL(), "Origin", "https://evil.example")
		require.Error(t, err)
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
	}
	require.Equal(t, "state", next(t, open(t, r.URL()))["type"])
}

func TestAddressInASecondLineIsTheClients(t *testing.T) {
	r := start(t, config(t, "--rate-limit", "1/m", "--trusted-proxies", "127.0.0.1"))
	s := newSeller(t, r.URL(), "a")
	join := func(lines ...string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+lockPath,
			strings.NewReader(`{"seller_id":"a"}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Session-ID", s.session)
		for _, line := range lines {
			req.Header.Add("X-Forwarded-For", line)
		}
		resp, err := s.http.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, 200, join("192.0.2.1", "203.0.113.1"),
		"the first line is the client's own, the second its proxy's")
	require.Equal(t, 429, join("192.0.2.2", "203.0.113.1"))
	require.Equal(t, 200, join("192.0.2.1", "203.0.113.2"))
}

func TestDigestOfAnAddressIsAnotherOneInEachRoomAndOnEachDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("203.0.113.8")
		cfg := Config{SMSWebhookSecret: "a shared secret"}
		mark := cfg.addressMarks()
		require.Regexp(t, "^[0-9a-f]{10}$", mark(one, "integration"))
		require.Equal(t, mark(one, "integration"), cfg.addressMarks()(one, "integration"), "replicas agree")
		require.NotEqual(t, mark(one, "integration"), mark(other, "integration"))
		require.NotEqual(t, mark(one, "integration"), mark(one, "coupang"))
		before := mark(one, "integration")
		time.Sleep(24 * time.Hour)
		require.NotEqual(t, before, mark(one, "integration"))
		open := Config{}
		require.NotEqual(t, open.addressMarks()(one, "integration"), open.addressMarks()(one, "integration"),
			"without a secret no other process can compute it")
	})
}
