package push

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const (
	here     = room.ID("integration")
	patience = 10 * time.Second
)

// stage is a Redis, a push service and the Pushes of one replica.
type stage struct {
	*Pushes
	t       *testing.T
	rdb     *redis.Client
	service *pushtest.Service
	now     time.Time
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, rdb: redistest.Start(t).Client(), service: pushtest.NewService(t), now: time.Now()}
	s.Pushes = s.replica()
	return s
}

func (s *stage) replica() *Pushes {
	p := New(Config{Redis: s.rdb, Loopback: true, Now: func() time.Time { return s.now }})
	s.t.Cleanup(p.Close)
	return p
}

// subscribe subscribes a new browser to a place.
func (s *stage) subscribe(ticket int64, seller, path string) (*pushtest.Browser, To) {
	s.t.Helper()
	b := pushtest.NewBrowser(s.t, s.service.URL+path)
	sub, err := s.Parse(b.Endpoint, b.P256dh(), b.Auth())
	require.NoError(s.t, err)
	sub.Seller, sub.Language, sub.Site = seller, "ko", "https://wait.example"
	require.NoError(s.t, s.Subscribe(s.t.Context(), here, ticket, sub))
	return b, To{here, ticket, nameOf(s.placeKey(here, ticket), sub)}
}

func (s *stage) send(to To) error {
	return s.Send(s.t.Context(), to, 119*time.Second, func(lang string) Message {
		return Message{Title: "title", Lang: lang, Paths: []string{"/rooms/integration"}}
	})
}

func (s *stage) browsers(ticket int64, seller string) []string {
	s.t.Helper()
	found, err := s.Browsers(s.t.Context(), here,
		[]room.Record{{Ticket: 99, Seller: "x"}, {Ticket: ticket, Seller: seller},
			{Ticket: ticket, Seller: seller}})
	require.NoError(s.t, err)
	slices.Sort(found[ticket])
	return found[ticket]
}

func public(t *testing.T, p *Pushes) string {
	t.Helper()
	k, err := p.PublicKey(t.Context())
	require.NoError(t, err)
	return k
}

func TestReplicasThatStartAtOnceAgreeOnOneKeyAndPutItBack(t *testing.T) {
	s := newStage(t)
	require.NoError(t, s.rdb.FlushAll(t.Context()).Err())
	keys := make([]string, 8)
	var starts sync.WaitGroup
	for i := range keys {
		starts.Go(func() {
			keys[i], _ = New(Config{Redis: s.rdb}).PublicKey(t.Context())
		})
	}
	starts.Wait()
	require.NotEmpty(t, keys[0])
	require.Len(t, slices.Compact(keys), 1)

	one := s.replica()
	require.Equal(t, keys[0], public(t, one), "also who comes later")
	require.NoError(t, s.rdb.FlushAll(t.Context()).Err())
	require.NoError(t, one.Subscribe(t.Context(), here, 1, Subscription{}))
	require.Equal(t, keys[0], public(t, s.replica()), "browsers subscribed for it")

	require.NoError(t, s.rdb.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err())
	require.Equal(t, keys[0], public(t, s.replica()), "to ask needs no write")
	require.NoError(t, s.rdb.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err())
	require.NoError(t, s.rdb.Set(t.Context(), s.keyName(), "secret", 0).Err())
	_, err := s.replica().PublicKey(t.Context())
	require.ErrorIs(t, err, room.ErrStore)
	require.NotContains(t, err.Error(), "secret")
}

func TestBrowserReadsThePushAndThePushServiceKnowsItsSender(t *testing.T) {
	s := newStage(t)
	b, to := s.subscribe(7, "s-7", "/send/abc")
	require.NoError(t, s.send(to))
	got := s.service.Next(patience)
	require.Equal(t, "/send/abc", got.Path)
	text, err := b.Open(got.Body)
	require.NoError(t, err)
	var m Message
	require.NoError(t, json.Unmarshal(text, &m))
	require.Equal(t, Message{Title: "title", Lang: "ko", Paths: []string{"/rooms/integration"}}, m)
	require.Equal(t, []string{"aes128gcm", "119", "high"},
		[]string{got.Header.Get("Content-Encoding"), got.Header.Get("TTL"), got.Header.Get("Urgency")})

	key, claims := got.Sender(t)
	require.Equal(t, public(t, s.Pushes), key)
	require.Equal(t, s.service.URL, claims["aud"])
	require.Equal(t, "https://wait.example", claims["sub"])
	until, err := claims.GetExpirationTime()
	require.NoError(t, err)
	require.Equal(t, s.now.Add(tokenLasts).Unix(), until.Unix())

	require.NoError(t, s.send(to))
	_, other := s.subscribe(8, "s-8", "/send/abc")
	require.NoError(t, s.send(other))
	again, elsewhere := s.service.Next(patience).Header.Get("Topic"),
		s.service.Next(patience).Header.Get("Topic")
	require.Equal(t, got.Header.Get("Topic"), again, "a newer message replaces an older one of the same place")
	require.NotEqual(t, again, elsewhere)
	require.Len(t, again, 32)
}

func TestBrowserThatSubscribesNoMoreIsForgotten(t *testing.T) {
	s := newStage(t)
	for i, status := range []int{http.StatusNotFound, http.StatusGone} {
		_, to := s.subscribe(int64(i+1), "s-1", "/gone")
		s.service.Answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		require.ErrorIs(t, s.send(to), ErrGone)
		require.Empty(t, s.browsers(to.Ticket, "s-1"))
		asked := s.service.Asked()
		require.ErrorIs(t, s.send(to), ErrGone)
		require.Equal(t, asked, s.service.Asked(), "nobody is asked any more")
	}
}

func TestPushServiceIsAskedAgainNoSoonerThanItSays(t *testing.T) {
	s := newStage(t)
	_, to := s.subscribe(1, "s-1", "/busy")
	answer := func(status int, after string) {
		s.service.Answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.Header().Set("Location", s.service.URL+"/elsewhere")
			w.WriteHeader(status)
		})
	}
	for i, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		answer(status, "30")
		require.ErrorIs(t, s.send(to), ErrLater)
		require.ErrorIs(t, s.send(to), ErrLater)
		require.Equal(t, i+1, s.service.Asked())
		s.now = s.now.Add(30 * time.Second)
	}
	answer(http.StatusInternalServerError, "")
	require.ErrorIs(t, s.send(to), ErrLater)
	answer(http.StatusTemporaryRedirect, "")
	require.ErrorIs(t, s.send(to), ErrRefused, "nobody is followed elsewhere")
	answer(http.StatusForbidden, "30")
	require.ErrorIs(t, s.send(to), ErrRefused)
	require.Equal(t, 5, s.service.Asked())
	s.service.Answers(nil)
	require.NoError(t, s.send(to), "it is kept all the same")
	s.service.Next(patience)

	unreachable := pushtest.NewBrowser(t, "http://127.0.0.1:1/1")
	sub, err := s.Parse(unreachable.Endpoint, unreachable.P256dh(), unreachable.Auth())
	require.NoError(t, err)
	require.NoError(t, s.Subscribe(t.Context(), here, 2, sub))
	err = s.send(To{here, 2, nameOf(s.placeKey(here, 2), sub)})
	require.ErrorIs(t, err, ErrLater)
	require.NotContains(t, err.Error(), "127.0.0.1")
}

// A push service's 429 for one browser does not delay the others.
func TestBrowserWithTooManyPushesHoldsUpNoOther(t *testing.T) {
	s := newStage(t)
	_, one := s.subscribe(1, "s-1", "/1")
	_, other := s.subscribe(2, "s-2", "/2")
	s.service.Answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	require.ErrorIs(t, s.send(one), ErrLater)
	s.service.Answers(nil)
	require.NoError(t, s.send(other))
	s.service.Next(patience)
	require.ErrorIs(t, s.send(one), ErrLater)
	require.Equal(t, 2, s.service.Asked())
}

// Two sellers that share a browser are not notified of each other's turns.
func TestBrowserIsNotifiedOfOnePlaceOfARoom(t *testing.T) {
	s := newStage(t)
	b, _ := s.subscribe(1, "s-1", "/1")
	_, kept := s.subscribe(1, "s-1", "/2")
	sub, err := s.Parse(b.Endpoint, b.P256dh(), b.Auth())
	require.NoError(t, err)
	sub.Seller = "s-2"
	require.NoError(t, s.Subscribe(t.Context(), here, 2, sub))
	require.NoError(t, s.Subscribe(t.Context(), "another", 3, sub))
	require.NoError(t, s.Subscribe(t.Context(), here, 2, sub))
	require.Equal(t, []string{kept.Browser}, s.browsers(1, "s-1"))
	require.Len(t, s.browsers(2, "s-2"), 1, "a browser may stand in several rooms")
}

func TestNothingIsKeptOfABrowserAfterItsLastPush(t *testing.T) {
	s := newStage(t)
	known := func() int { return len(s.rdb.Keys(t.Context(), prefix+"browser:*").Val()) }
	for i := range 20 {
		s.subscribe(1, "s-1", fmt.Sprint("/", i))
	}
	require.Equal(t, most, known())
	_, gone := s.subscribe(1, "s-1", "/19")
	s.service.Answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	require.ErrorIs(t, s.send(gone), ErrGone)
	require.Equal(t, most-1, known())
	s.subscribe(2, "s-2", "/a")
	s.subscribe(3, "s-3", "/b")
	require.NoError(t, s.Forget(t.Context(), here, 1, 2, 9))
	require.Equal(t, 1, known())
	_, err := Erase(t.Context(), s.rdb, room.Names{}, "s-3")
	require.NoError(t, err)
	require.Zero(t, known())
}

func TestBrowserThatIsForgottenLeavesThePlacesOthers(t *testing.T) {
	s := newStage(t)
	b, _ := s.subscribe(1, "s-1", "/1")
	_, kept := s.subscribe(1, "s-1", "/2")
	sub, err := s.Parse(b.Endpoint, b.P256dh(), b.Auth())
	require.NoError(t, err)
	require.NoError(t, s.Unsubscribe(t.Context(), here, 1, sub))
	require.Equal(t, []string{kept.Browser}, s.browsers(1, "s-1"))
}

func TestSubscriptionIsOfOneSellersPlaceUntilItIsForgotten(t *testing.T) {
	s := newStage(t)
	require.Empty(t, s.browsers(1, "s-1"))
	_, first := s.subscribe(1, "s-1", "/1")
	_, second := s.subscribe(1, "s-1", "/2")
	s.subscribe(2, "s-2", "/7")
	want := []string{first.Browser, second.Browser}
	slices.Sort(want)
	require.Equal(t, want, s.browsers(1, "s-1"))
	require.Empty(t, s.browsers(1, "s-9"), "another seller's ticket, before the store lost data")

	for _, path := range []string{"/3", "/4", "/5", "/6", "/6"} {
		s.subscribe(1, "s-1", path)
	}
	require.Len(t, s.browsers(1, "s-1"), most)
	ttl, err := s.rdb.PTTL(t.Context(), s.placeKey(here, 1)).Result()
	require.NoError(t, err)
	require.Positive(t, ttl, "without an event of its end")

	n, err := Erase(t.Context(), s.rdb, room.Names{}, "s-1")
	require.NoError(t, err)
	require.Equal(t, most, n)
	require.Empty(t, s.browsers(1, "s-1"))
	require.Len(t, s.browsers(2, "s-2"), 1)
	require.NoError(t, s.Forget(t.Context(), here, 1, 2))
	require.Empty(t, s.rdb.Keys(t.Context(), prefix+"place:*").Val())
}

// A proxy resolves names by itself, and may reach what is inside.
func TestProxyIsAskedForPushServicesOfBrowsersMakersAlone(t *testing.T) {
	asked := make(chan string, 4)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	s := newStage(t)
	s.Pushes = New(Config{Redis: s.rdb, Now: time.Now,
		Proxy: func(*http.Request) (*url.URL, error) { return at, nil }})
	t.Cleanup(s.Close)
	send := func(ticket int64, endpoint string) error {
		b := pushtest.NewBrowser(t, endpoint)
		sub, err := s.Parse(b.Endpoint, b.P256dh(), b.Auth())
		require.NoError(t, err)
		require.NoError(t, s.Subscribe(t.Context(), here, ticket, sub))
		return s.send(To{here, ticket, nameOf(s.placeKey(here, ticket), sub)})
	}
	require.ErrorIs(t, send(1, "https://inside.example/1"), ErrRefused)
	require.Empty(t, asked)
	require.ErrorIs(t, send(2, "https://fcm.googleapis.com/fcm/send/1"), ErrLater)
	require.Equal(t, "CONNECT fcm.googleapis.com:443", <-asked)
}
