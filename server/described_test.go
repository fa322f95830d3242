package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/web/describe"
)

// described checks every answer and every frame of this package's tests against the API's descriptions.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

// excused lists the described parts that no test of this package causes, each with the reason.
var excused = map[string]string{
	"* 500":  "nothing in the whole program breaks on purpose; web's tests have an engine that does",
	"* ping": "comes every 25 seconds; hub's tests see it sooner",
}

// bodies are valid request bodies, by operation.
var bodies = map[string]string{"join": `{"seller_id":"s-1"}`, "leave": "", "claim": `{"fence":9}`,
	"expect": `{"fence":9}`, "link": "{}",
	"push":       `{"endpoint":"https://push.example/1","keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}`,
	"reject":     `{"fence":9,"message_id":"m-1"}`,
	"receiveSMS": `{"message_id":"m-1","from":"15880000","text":"hello"}`}

// upgrade are the headers of a request for a socket.
var upgrade = []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
	"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}

// provoke sends an operation's request that is refused with a status. It returns false if that takes more
// than a request.
func provoke(op describetest.Operation, status int, stranger, kim *seller) (got reply, ok bool) {
	s, path, body, headers := stranger, strings.NewReplacer("{room}", "integration", "{source}",
		"gateway").Replace(op.Path), bodies[op.ID], []string(nil)
	if strings.HasPrefix(op.Path, "/api/support/") && status != http.StatusUnauthorized {
		s = kim
	}
	if op.Method != http.MethodGet {
		headers = jsonHeader
	}
	socket := strings.HasSuffix(op.Path, "/ws")
	switch status {
	case http.StatusBadRequest:
		if op.ID == "receiveSMS" {
			return carrierSays(s.t, s.base, "m-0", "{"), true
		}
		if op.ID == "receiveSMSFrom" || op.ID == "receiveSMSForAny" {
			return gatewayPost(s, path, "{"), true
		}
		path, body, headers = path+"?limit=%", "{", append(headers, "X-Session-ID", "me")
	case http.StatusUnauthorized:
	case http.StatusForbidden:
		// requests from another seller's page are in TestPageOfOneSellerDoesNothingForAnother
		if op.ID == "status" || op.ID == "messages" {
			return reply{}, false
		}
		headers = append(headers, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site",
			"Sec-Fetch-Mode", "no-cors")
		if socket {
			headers = append(headers, upgrade...)
		}
	case http.StatusNotFound:
		path = strings.Replace(path, "integration", "elsewhere", 1)
		path = strings.Replace(path, "/api/sms/gateway", "/api/sms/elsewhere", 1)
	case http.StatusRequestEntityTooLarge:
		body = `{"x":"` + strings.Repeat("x", 16<<10) + `"}`
	case http.StatusUnsupportedMediaType:
		body, headers = "seller_id=s-1", []string{asJSON, "text/plain"}
	case http.StatusMisdirectedRequest:
		other := *s
		other.host, s = "elsewhere.example", &other
	case http.StatusUpgradeRequired:
		headers = append(headers, "Origin", s.base)
	default:
		return reply{}, false
	}
	return s.ask(op.Method, path, body, headers...), true
}

func TestEveryRefusalThatIsDescribedIsGiven(t *testing.T) {
	r := start(t, config(t, append(supportArgs(t), "--sms-webhook-secret", smsSecret, "--sms-sources",
		"gateway=android-sms-gateway:"+sourceSecret, "--webhook-url", "http://127.0.0.1:9/", "--webhook-secret",
		smsSecret, "--webhook-near", "1")...))
	stranger, kim := newSeller(t, r.URL(), "s-1"), newAgent(t, r.URL(), "kim")
	for _, op := range described.Operations() {
		for _, status := range op.Statuses {
			got, ok := provoke(op, status, stranger, kim)
			if ok && got.text("code") != "not_found" && got.text("code") != "not_identified" {
				require.True(t, got.StatusCode == status || status == http.StatusUnauthorized &&
					!strings.Contains(op.Path, "support"),
					"%s answers %d, not %d: %s", op.ID, got.StatusCode, status, got.body)
			}
		}
	}
	for _, path := range []string{"/openapi.yaml", "/asyncapi.yaml"} {
		got := stranger.ask(http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, http.StatusNotModified,
			stranger.ask(http.MethodGet, path, "", "If-None-Match", got.Header.Get("ETag")).StatusCode)
	}
}

// requireAway sends every operation while Redis is away.
func requireAway(t *testing.T, r *replica, stranger, kim *seller) {
	t.Helper()
	require.Eventually(t, func() bool { return !r.hub.Fresh() }, patience, 10*time.Millisecond)
	var group sync.WaitGroup
	for _, op := range described.Operations() {
		if !strings.HasPrefix(op.Path, "/api/") || strings.HasPrefix(op.ID, "receiveSMS") {
			continue
		}
		s, headers := stranger, jsonHeader
		if strings.HasPrefix(op.Path, "/api/support/") {
			s = kim
		}
		if strings.HasSuffix(op.Path, "/ws") {
			headers = upgrade
		}
		group.Go(func() {
			got := s.ask(op.Method, strings.Replace(op.Path, "{room}", "integration", 1), bodies[op.ID], headers...)
			if got.text("code") != "not_found" && got.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s answers %d without a store: %s", op.ID, got.StatusCode, got.body)
			}
		})
	}
	group.Wait()
	message := gatewaySays(stranger, "integration",
		`{"event":"sms:received","id":"e","payload":{"message":"hello","sender":"1588"}}`)
	requireProblem(t, message, http.StatusServiceUnavailable, "store_unavailable")
}

// hooks receives webhooks and checks them against the descriptions.
type hooks struct {
	t    *testing.T
	mu   sync.Mutex
	seen map[string]int
}

func (h *hooks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = described.Webhook(r.Header, body)
	}
	var of struct{ Type string }
	_ = json.Unmarshal(body, &of)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[of.Type]++
	if err != nil {
		h.t.Error(err)
	}
}

// until waits until webhooks of all these types have arrived.
func (h *hooks) until(types ...string) {
	h.t.Helper()
	testproc.Until(h.t, patience, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, one := range types {
			if h.seen[one] == 0 {
				return fmt.Errorf("no webhook %s; there were %v", one, h.seen)
			}
		}
		return nil
	})
}

// watch opens a socket of support.
func (s *seller) watch(path string) *websocket.Conn {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), s.base+path, &websocket.DialOptions{HTTPClient: newHTTP(s.t),
		HTTPHeader: http.Header{"Cookie": {cookieIn(s.t, s, "waitroom_support")}, "Origin": {s.base}}})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// untilSeen reads frames until it has one of each type.
func untilSeen(t *testing.T, conn *websocket.Conn, types ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, one := range types {
		missing[one] = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(missing) > 0 {
		_, text, err := conn.Read(ctx)
		require.NoError(t, err, "still missing hooks: %v", missing)
		var frame struct{ Type string }
		require.NoError(t, json.Unmarshal(text, &frame))
		delete(missing, frame.Type)
	}
}

func (s *seller) joinAsking() reply {
	s.t.Helper()
	return s.ask(http.MethodPost, lockPath, `{"seller_id":"`+s.id+`","asks":true}`, jsonHeader...)
}

func TestWholeTimelineReadsAsDescribed(t *testing.T) {
	receivedHooks := &hooks{t: t, seen: map[string]int{}}
	receiver := httptest.NewServer(receivedHooks)
	t.Cleanup(receiver.Close)
	r := start(t, config(t, append(supportArgs(t), "--sms-webhook-secret", smsSecret, "--webhook-url",
		receiver.URL, "--webhook-secret", smsSecret)...))
	kim := newAgent(t, r.URL(), "kim")
	desk, all := kim.watch("/api/support/integration/ws"), kim.watch("/api/support/ws")

	a, b, c := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c")
	first := a.joinAsking()
	require.Equal(t, http.StatusAccepted, b.joinAsking().StatusCode)
	ticket := c.joinAsking().number("ticket")
	socket := open(t, r.URL(), "X-Session-ID", a.session)
	next(t, socket)
	require.Equal(t, http.StatusOK, a.ask(http.MethodPost, lockPath+"/expect",
		fmt.Sprintf(`{"fence":%s}`, first.json["fence"]), jsonHeader...).StatusCode)
	require.Contains(t, carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", time.Now()).body, "matched")
	untilSeen(t, socket, "sms")

	holder := open(t, r.URL(), "X-Session-ID", b.session)
	second := until(t, holder, "locked")
	require.Contains(t, carrier(t, r.URL(), "m-2", "인증번호는 [111222] 입니다", time.Now()).body, "not_expected")
	untilSeen(t, holder, "sms_unclaimed")
	kim.mustAct("extend", fmt.Sprintf(`{"fence":%.0f,"seconds":30,"reason":"r"}`, second["fence"]))
	untilSeen(t, holder, "notice")
	kim.mustAct("pause", `{"reason":"r"}`)
	kim.mustAct("remove", fmt.Sprintf(`{"ticket":%d,"reason":"r"}`, ticket))

	reject := func(fence string) reply {
		return a.ask(http.MethodPost, lockPath+"/reject", `{"fence":`+fence+`,"message_id":"m-1"}`, jsonHeader...)
	}
	requireProblem(t, reject("9"), http.StatusConflict, "stale_fence")
	require.Equal(t, http.StatusOK, reject(first.json["fence"].(json.Number).String()).StatusCode)
	receivedHooks.until("lock.granted", "lock.ended", "sms.matched", "incident")
	untilSeen(t, desk, "desk", "change", "items", "minutes", "pause", "replicas", "beat")
	untilSeen(t, all, "rooms", "replicas", "beat")
}
