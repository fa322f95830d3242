package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	news "github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/room"
)

// pushConfig is config with push services on this machine.
func pushConfig(t *testing.T, args ...string) Config {
	cfg := config(t, args...)
	cfg.PushLoopback = true
	return cfg
}

func (s *seller) subscribe(b *pushtest.Browser) reply {
	s.t.Helper()
	return s.ask(http.MethodPost, lockPath+"/push", b.JSON(s.t),
		append([]string{"Accept-Language", "ko"}, jsonHeader...)...)
}

// subscriptionsIn returns the places that have subscriptions.
func subscriptionsIn(t *testing.T, rdb *redis.Client) []string {
	t.Helper()
	keys, err := rdb.Keys(t.Context(), "{waitroom-push}:place:*").Result()
	require.NoError(t, err)
	return keys
}

// pushed is the message that the service worker receives.
type pushed struct {
	Title, Body, Lang, Tag string
	Until                  int64
	Paths                  []string
}

// reads decrypts a push as the browser does.
func reads(t *testing.T, b *pushtest.Browser, p pushtest.Push) (m pushed) {
	t.Helper()
	text, err := b.Open(p.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &m), "%s", text)
	return m
}

func TestClosedTabHearsItsTurnFromAnyReplica(t *testing.T) {
	store, service := redistest.Lent(t), pushtest.NewService(t)
	database := pgtest.Start(t).URL() // replicas with separate ledgers could each notify of a turn
	one, other := start(t, pushConfig(t, "--redis-url", store.URL(), "--database-url", database)),
		start(t, pushConfig(t, "--redis-url", store.URL(), "--database-url", database))
	a, b := newSeller(t, one.URL(), "s-a"), newSeller(t, other.URL(), "s-b")
	a.join()
	ticket := b.join().number("ticket")
	tab := open(t, other.URL(), "X-Session-ID", b.session)
	next(t, tab)
	browser := pushtest.NewBrowser(t, service.URL+"/b")
	r := b.subscribe(browser)
	require.Equal(t, http.StatusOK, r.StatusCode, r.body)
	require.Equal(t, ticket, r.number("ticket"))
	require.NoError(t, tab.Close(websocket.StatusNormalClosure, ""))

	a.leave("?reason=completed")
	got := service.Next(patience)
	m := reads(t, browser, got)
	held := b.ask(http.MethodGet, lockPath+"/status", "").me()
	require.Equal(t, moment(t, held.text("expires_at")).UnixMilli(), m.Until)
	m.Until = 0
	require.Equal(t, pushed{Title: "지금 차례예요", Body: "integration: {time}까지 인증해 주세요. 누르면 열려요.", Lang: "ko",
		Tag:   "waitroom:integration",
		Paths: []string{"/rooms/integration", "/"}}, m)
	key, claims := got.Sender(t)
	agreed, err := one.pushes.PublicKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, agreed, key)
	require.Contains(t, b.ask(http.MethodGet, "/rooms/integration", "").body, `"push_key":"`+key+`"`)
	require.Equal(t, service.URL, claims["aud"])
	ttl, err := strconv.Atoi(got.Header.Get("TTL"))
	require.NoError(t, err)
	require.LessOrEqual(t, ttl, 120)
	require.GreaterOrEqual(t, ttl, int(time.Until(moment(t, held.text("expires_at"))).Seconds()),
		"what is left of the turn")

	b.leave("?reason=completed")
	testproc.Until(t, patience, func() error {
		if keys := subscriptionsIn(t, store.Client()); len(keys) > 0 {
			return fmt.Errorf("the place is over, and there is %s", keys)
		}
		return nil
	})
	service.Empty()
}

func TestPassedOverSellerSeesHowLongItsPlaceIsKept(t *testing.T) {
	service := pushtest.NewService(t)
	r := start(t, pushConfig(t, "--away-after", "200ms"))
	a, b := newSeller(t, r.URL(), "s-a"), newSeller(t, r.URL(), "s-b")
	a.join()
	b.join()
	tab := open(t, r.URL(), "X-Session-ID", b.session)
	next(t, tab)
	browser := pushtest.NewBrowser(t, service.URL+"/b")
	require.Equal(t, http.StatusOK, b.subscribe(browser).StatusCode)
	require.NoError(t, tab.Close(websocket.StatusNormalClosure, ""))
	m := reads(t, browser, service.Next(patience))
	require.Equal(t, "차례를 건너뛰고 있어요", m.Title)
}

func TestPushOfATurnThatIsToBeClaimedHoldsUntilThen(t *testing.T) {
	service := pushtest.NewService(t)
	r := start(t, pushConfig(t, "--claim-within", "30s"))
	a, b := newSeller(t, r.URL(), "s-a"), newSeller(t, r.URL(), "s-b")
	a.join()
	b.join()
	tab := open(t, r.URL(), "X-Session-ID", b.session)
	next(t, tab)
	browser := pushtest.NewBrowser(t, service.URL+"/b")
	require.Equal(t, http.StatusOK, b.subscribe(browser).StatusCode)
	a.leave("?reason=completed")
	got := service.Next(patience)
	require.Contains(t, reads(t, browser, got).Body, "‘저 여기 있어요’를 눌러 주세요")
	ttl, err := strconv.Atoi(got.Header.Get("TTL"))
	require.NoError(t, err)
	require.LessOrEqual(t, ttl, 30)
}

// mine returns the journal's record of a place.
func mine(r reply) []room.Record {
	return []room.Record{{Ticket: r.number("ticket"), Seller: r.text("seller_id")}}
}

func TestPushThatIsNotTrueAnyMoreIsNotSent(t *testing.T) {
	service := pushtest.NewService(t)
	r := start(t, pushConfig(t))
	a := newSeller(t, r.URL(), "s-a")
	lease := a.join()
	testproc.Until(t, patience, func() error { // else it may read the turn's subscriptions before there is one
		var n int
		err := r.db.SQL().QueryRow("SELECT COUNT(*) FROM leases").Scan(&n)
		if err == nil && n == 0 {
			err = errors.New("the lease is not in the ledger")
		}
		return err
	})
	browser := pushtest.NewBrowser(t, service.URL+"/a")
	require.Equal(t, http.StatusOK, a.subscribe(browser).StatusCode)
	push := func(what string, fence, at int64) {
		found, err := r.pushes.Browsers(t.Context(), "integration", mine(lease))
		require.NoError(t, err)
		n := news.News{What: what, Room: "integration", Ticket: lease.number("ticket"), Fence: fence, At: at,
			Browser: found[lease.number("ticket")][0]}
		require.NoError(t, r.notifyBrowser(t.Context(), n))
	}
	now := time.Now().UnixMilli()
	push(news.Turn, lease.number("fence")-1, now)
	push(news.Away, 0, now-awayFresh.Milliseconds()-1000)
	push(news.Away, 0, now)
	require.Zero(t, service.Asked(), "nor that it is passed over, who has the lock by now")
	push(news.Turn, lease.number("fence"), now)
	service.Next(patience)

	service.Answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	push(news.Turn, lease.number("fence"), now)
	found, err := r.pushes.Browsers(t.Context(), "integration", mine(lease))
	require.NoError(t, err)
	require.Empty(t, found, "what is gone is forgotten")
}

func TestSubscriptionIsRefusedInWords(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "s-a")
	good := pushtest.NewBrowser(t, "https://push.example/1")
	requireProblem(t, s.subscribe(good), http.StatusNotFound, "no_place")
	s.join()
	for _, endpoint := range []string{"http://push.example/1", "http://127.0.0.1:6379/", "https://127.0.0.1/1",
		"https://10.0.0.1/1", "https://169.254.169.254/1", "https://[::1]/1",
		"https://localhost/1", "https://push.example/" + strings.Repeat("x", 2000)} {
		requireProblem(t, s.subscribe(pushtest.NewBrowser(t, endpoint)), http.StatusBadRequest,
			"invalid_subscription")
	}
	requireProblem(t, s.ask(http.MethodPost, lockPath+"/push",
		`{"endpoint":"https://push.example/1","keys":{"p256dh":"AA","auth":"AA"}}`, jsonHeader...),
		http.StatusBadRequest, "invalid_subscription")
	requireProblem(t, s.ask(http.MethodPost, lockPath+"/push", `null`, jsonHeader...), http.StatusBadRequest,
		"invalid_json")
	requireProblem(t, s.ask(http.MethodPost, lockPath+"/push", good.JSON(t), "Content-Type", "application/json",
		"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"),
		http.StatusForbidden, "cross_site")
	require.Equal(t, http.StatusOK, s.subscribe(good).StatusCode)

	off := start(t, config(t, "--web-push", "false"))
	silent := newSeller(t, off.URL(), "s-a")
	silent.join()
	require.Equal(t, http.StatusNotFound, silent.subscribe(good).StatusCode)
	require.NotContains(t, silent.ask(http.MethodGet, "/rooms/integration", "").body, "push_key")
}

// A seller may subscribe with any endpoint, also with many that never answer.
func TestEndpointsThatNeverAnswerDelayNoOtherPush(t *testing.T) {
	service, dead := pushtest.NewService(t), pushtest.NewService(t)
	const senders = 32 // sends in flight at most
	var over atomic.Int64
	dead.Answers(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // the sender's time ran out
		over.Add(1)
	})
	r := start(t, pushConfig(t, "--rooms", "integration,x:*", "--places-per-ip", "0"))
	hold := func(id, endpoint string, browsers int) (holder *seller, path string) {
		path = "/api/" + id + "/lock"
		holder = newSeller(t, r.URL(), "holder")
		waiter := newSeller(t, r.URL(), "waiter")
		for _, s := range []*seller{holder, waiter} {
			joined := s.ask(http.MethodPost, path, `{"seller_id":"`+s.id+`"}`, jsonHeader...)
			require.Less(t, joined.StatusCode, 300, joined.body)
		}
		for i := range browsers {
			b := pushtest.NewBrowser(t, fmt.Sprint(endpoint, "/", id, "/", i))
			require.Equal(t, http.StatusOK, waiter.ask(http.MethodPost, path+"/push", b.JSON(t),
				jsonHeader...).StatusCode)
		}
		return holder, path
	}
	holders := make(map[string]*seller)
	for i := range 40 {
		holder, path := hold(fmt.Sprint("x:", i), dead.URL, 4)
		holders[path] = holder
	}
	honest, honestPath := hold("integration", service.URL, 1)
	for path, holder := range holders {
		require.Equal(t, http.StatusOK, holder.ask(http.MethodDelete, path, "").StatusCode)
	}
	testproc.Until(t, patience, func() error {
		if dead.Asked() == 0 {
			return errors.New("no endpoint was asked yet")
		}
		return nil
	})
	honest.ask(http.MethodDelete, honestPath, "")
	service.Next(time.Minute)
	require.Less(t, over.Load(), int64(senders), "a seller's push waited until others had run out of time")
}
