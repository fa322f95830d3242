// Package clients holds every client to one list of what a robot's turn must survive, against real servers.
package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lab/stack"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var program struct {
	sync.Once
	path string
	err  error
}

// build returns the server's program, built once for all tests.
func build(t *testing.T) string {
	program.Do(func() {
		program.path = filepath.Join(dir, "waitroom")
		program.err = stack.Build(t.Context(), "../..", program.path)
	})
	require.NoError(t, program.err)
	return program.path
}

// site is a Redis with replicas, and a proxy in front of them that sends each call to a live replica.
type site struct {
	t        *testing.T
	stack    *stack.Stack
	redis    string // its address
	replicas []*stack.Replica
	proxy    *httptest.Server
	next     atomic.Int64
	sockets  atomic.Bool  // let through
	lose     atomic.Int64 // answers of so many more calls that change something
	rooms    atomic.Int64
	kills    atomic.Int64
	called   sync.Map // a room and the path of a call in it → *atomic.Int64, how often
	losing   sync.Map // room → true: the next answer to a call that changes something is lost
	looked   sync.Map // session → true: it has been answered how its place is, and so counts as there
}

// status has the fields of a status answer.
type status struct {
	Status string
	Me     struct {
		Status    string
		ClaimBy   string `json:"claim_by"`
		Unclaimed bool
	}
}

// status reads it directly from a replica; the session does not count as present by that.
func (s *site) status(room, session string) (a status) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet,
		s.replicas[0].URL()+"/api/"+room+"/lock/status", nil)
	require.NoError(s.t, err)
	r.Header.Set("X-Session-ID", session)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.NoError(s.t, json.NewDecoder(resp.Body).Decode(&a))
	return a
}

// join lets a session join as a seller.
func (s *site) join(room, session, seller string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.replicas[0].URL()+"/api/"+room+"/lock", strings.NewReader(fmt.Sprintf(`{"seller_id":%q}`, seller)))
	require.NoError(s.t, err)
	r.Header = http.Header{"X-Session-Id": {session}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
}

// until waits for a condition, for at most a minute.
func (s *site) until(condition func() bool) {
	s.t.Helper()
	require.Eventually(s.t, condition, time.Minute, 20*time.Millisecond)
}

// untilThere waits until a session counts as present: then it has to claim its turn.
func (s *site) untilThere(session string) {
	s.t.Helper()
	s.until(func() bool { _, there := s.looked.Load(session); return there })
}

// calls counts the calls of a path in a room.
func (s *site) calls(room, call string) *atomic.Int64 {
	n, _ := s.called.LoadOrStore(room+" "+call, &atomic.Int64{})
	return n.(*atomic.Int64)
}

// loseIn drops the answer to the next call that changes something in a room.
func (s *site) loseIn(room string) { s.losing.Store(room, true) }

// loses counts a call, and reports whether its answer has to be dropped.
func (s *site) loses(r *http.Request) bool {
	room, call, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	s.calls(room, call).Add(1)
	if r.Method == http.MethodGet {
		return false
	}
	_, lost := s.losing.LoadAndDelete(room)
	return lost || s.lose.Load() > 0 && s.lose.Add(-1) >= 0
}

func newSite(t *testing.T, replicas int, settings ...string) *site {
	t.Helper()
	st, err := stack.New("waitroom-clients-")
	require.NoError(t, err)
	t.Cleanup(st.Stop)
	_, addr, err := st.Redis(t.Context())
	require.NoError(t, err)
	s := &site{t: t, stack: st, redis: addr}
	s.sockets.Store(true)
	config := append([]string{"WAITROOM_REDIS_URL=redis://" + addr, "WAITROOM_ROOMS=room:*",
		"WAITROOM_DATABASE_URL=sqlite:" + filepath.Join(st.Dir, "waitroom.db"), "WAITROOM_LOG_LEVEL=error",
		"WAITROOM_SMS_WEBHOOK_SECRET=" + secret, "WAITROOM_DRAIN_TIMEOUT=1s", "WAITROOM_RATE_LIMIT=0",
		"WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0"}, settings...)
	for n := range replicas {
		r, err := st.Replica(t.Context(), fmt.Sprint("replica ", n+1), build(t), config)
		require.NoError(t, err)
		s.replicas = append(s.replicas, r)
	}
	s.proxy = httptest.NewServer(http.HandlerFunc(s.forward))
	t.Cleanup(s.proxy.Close)
	return s
}

// room returns a room that no other test uses.
func (s *site) room() string { return "room:" + strconv.FormatInt(s.rooms.Add(1), 10) }

// forward sends a call to the next replica; a dead one answers 502.
func (s *site) forward(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" && !s.sockets.Load() {
		http.Error(w, "no sockets here", http.StatusForbidden)
		return
	}
	if s.loses(r) {
		w = nowhere{http.Header{}}
		defer panic(http.ErrAbortHandler) // the connection breaks after the server has done it
	}
	replica := s.replicas[int(s.next.Add(1))%len(s.replicas)]
	to, _ := url.Parse(replica.URL())
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request,
		_ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	proxy.ErrorLog = nil
	r.Host = to.Host
	proxy.ServeHTTP(w, r)
	if strings.HasSuffix(r.URL.Path, "/lock/status") {
		s.looked.Store(r.Header.Get("X-Session-ID"), true)
	}
}

// nowhere is a ResponseWriter that drops an answer.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}

// message posts a signed message of the carrier.
func message(ctx context.Context, url, room, id, from, text string, at time.Time) (*http.Request, error) {
	body := fmt.Sprintf(`{"message_id":%q,"from":%q,"text":%q,"sent_at":%q}`, id, from, text,
		at.Format(time.RFC3339Nano))
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/"+room+"/sms", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
		"Webhook-Signature": {signature}}
	return r, nil
}

// send posts a message of the carrier, and returns its result: "matched", "late" or "unmatched".
func (s *site) send(room, from, text string) string {
	s.t.Helper()
	return s.sendOf(time.Now(), room, from, text)
}

// sendOf posts a message that the carrier took at a time.
func (s *site) sendOf(at time.Time, room, from, text string) string {
	s.t.Helper()
	r, err := message(s.t.Context(), s.replicas[0].URL(), room, fmt.Sprintf("m-%d", time.Now().UnixNano()), from,
		text, at)
	require.NoError(s.t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	for _, result := range []string{"unmatched", "matched", "late"} {
		if strings.Contains(string(answer), `"result":"`+result+`"`) {
			return result
		}
	}
	require.Fail(s.t, "no result", string(answer))
	return ""
}
