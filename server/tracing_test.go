package server

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// Traces of callers.
const (
	joinTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	smsTrace  = "0af7651916cd43dd8448eb211c80319c"
	caller    = "00f067aa0ba902b7"
)

// within returns the headers of a caller whose request is part of a trace.
func within(trace string) []string {
	return []string{"Traceparent", "00-" + trace + "-" + caller + "-01"}
}

// integrationSide receives webhooks and records the traceparent of each type.
type integrationSide struct {
	mu      sync.Mutex
	parents map[string]string
}

func startIntegration(t *testing.T) (*integrationSide, string) {
	i := &integrationSide{parents: make(map[string]string)}
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	return i, s.URL
}

func (i *integrationSide) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var event struct{ Type string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &event)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.parents[event.Type] = r.Header.Get("Traceparent")
}

// delivered waits for a webhook of a type, and returns its trace and parent span.
func (i *integrationSide) delivered(t *testing.T, kind string) (trace, span string) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		i.mu.Lock()
		defer i.mu.Unlock()
		parts := strings.Split(i.parents[kind], "-")
		if len(parts) != 4 {
			return fmt.Errorf("%s: traceparent %q", kind, i.parents[kind])
		}
		trace, span = parts[1], parts[2]
		return nil
	})
	return trace, span
}

// startTraced runs a server whose log is kept.
func startTraced(t *testing.T, cfg Config) (*replica, *testproc.Log) {
	t.Helper()
	log := &testproc.Log{}
	s, err := New(t.Context(), cfg, cfg.NewLog(log))
	require.NoError(t, err)
	return run(t, s), log
}

func TestACallsTraceGoesOnThroughScriptAndLedgerToTheIntegration(t *testing.T) {
	c := startCollector(t)
	side, hook := startIntegration(t)
	store := redistest.Lent(t)
	r, log := startTraced(t, config(t, "--redis-url", store.URL(), "--sms-webhook-secret", smsSecret,
		"--webhook-url", hook, "--webhook-secret", smsSecret))
	a := newSeller(t, r.URL(), "s-1")
	joined := a.ask(http.MethodPost, lockPath, `{"seller_id":"s-1"}`,
		append(within(joinTrace), "Content-Type", "application/json")...)
	require.Equal(t, http.StatusOK, joined.StatusCode, joined.body)

	trace, parent := side.delivered(t, "lock.granted")
	require.Equal(t, joinTrace, trace)
	chain := []*tracepb.Span{c.span(trace, "POST /api/:room/lock"), c.span(trace, "room.join"),
		c.span(trace, "ledger.record"), c.span(trace, "outbox.webhook.deliver"), c.span(trace, "POST")}
	require.Equal(t, caller, hex.EncodeToString(chain[0].ParentSpanId),
		"the caller's span is the request's parent")
	requireBelow(t, chain...)
	require.Equal(t, parent, hex.EncodeToString(chain[4].SpanId), "the receiver goes on where the delivery is")
	require.Equal(t, tracepb.Span_SPAN_KIND_SERVER, chain[0].Kind)
	require.Equal(t, "200", attribute(chain[0], "http.response.status_code"))
	require.Equal(t, "integration", attribute(chain[0], "waitroom.room"))
	require.Equal(t, "ok", attribute(chain[1], "waitroom.result"))
	require.Equal(t, store.Addr(), attribute(chain[1], "server.address")+":"+attribute(chain[1], "server.port"))

	message := carrierWithin(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", moment(t, joined.text("granted_at")),
		within(smsTrace)...)
	require.Equal(t, "matched", message.text("result"), message.body)
	for _, kind := range []string{"sms.matched", "lock.ended"} {
		trace, _ = side.delivered(t, kind)
		require.Equal(t, smsTrace, trace, kind)
	}
	request := c.span(smsTrace, "POST /api/:room/sms")
	requireBelow(t, request, c.span(smsTrace, "room.match"))
	require.Equal(t, "matched", attribute(request, "waitroom.sms.result"))
	line := lineWith(log, "message answered")
	require.Contains(t, line, "trace_id="+smsTrace)
	require.Contains(t, line, "span_id="+hex.EncodeToString(request.SpanId))
	requireOneTree(t, c, joinTrace)
	requireOneTree(t, c, smsTrace)
}

// requireOneTree requires every span of a trace to be below the caller's. A span may be exported before its
// parent, which ends later.
func requireOneTree(t *testing.T, c *collector, trace string) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		known := map[string]bool{caller: true}
		for _, s := range c.of(trace) {
			known[hex.EncodeToString(s.SpanId)] = true
		}
		for _, s := range c.of(trace) {
			assert.True(t, known[hex.EncodeToString(s.ParentSpanId)], s.Name)
		}
	}, patience, 10*time.Millisecond)
}

func lineWith(log *testproc.Log, text string) string {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func TestRefusalIsNoErrorOfASpanAndSaysWhatWasRefused(t *testing.T) {
	c := startCollector(t)
	r := start(t, config(t, "--redis-url", "embedded"))
	got := newSeller(t, r.URL(), "s-1").ask(http.MethodDelete, lockPath, "", within(joinTrace)...)
	require.Equal(t, http.StatusNotFound, got.StatusCode)
	request, verb := c.span(joinTrace, "DELETE /api/:room/lock"), c.span(joinTrace, "room.leave")
	require.Equal(t, "no_place", attribute(request, "waitroom.problem"))
	require.Equal(t, "no_place", attribute(verb, "waitroom.result"))
	require.Equal(t, tracepb.Status_STATUS_CODE_UNSET, request.Status.GetCode())
	require.Equal(t, tracepb.Status_STATUS_CODE_UNSET, verb.Status.GetCode())
}

func TestSocketsSpanEndsWithTheUpgradeAndItsFramesHaveNone(t *testing.T) {
	c := startCollector(t)
	r := start(t, config(t, "--redis-url", "embedded"))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	a.join()
	b.join()
	conn := open(t, r.URL(), append(within(joinTrace), "X-Session-ID", b.session)...)
	until(t, conn, "waiting")
	request := c.span(joinTrace, "GET /api/:room/ws")
	require.Equal(t, "101", attribute(request, "http.response.status_code"))
	sent := len(c.of(joinTrace))
	require.Equal(t, http.StatusOK, a.leave("?reason=completed").StatusCode)
	until(t, conn, "locked")
	a.ask(http.MethodGet, lockPath+"/status", "", within(smsTrace)...)
	c.span(smsTrace, "GET /api/:room/lock/status") // earlier spans have been sent by now
	require.Len(t, c.of(joinTrace), sent, c.names(joinTrace))
}

func TestHealthMetricsAndFilesAreNotTraced(t *testing.T) {
	c := startCollector(t)
	r := start(t, config(t, "--redis-url", "embedded"))
	a := newSeller(t, r.URL(), "s-1")
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/docs", "/openapi.yaml", "/favicon.ico",
		"/nothing/here"} {
		a.ask(http.MethodGet, path, "", within(smsTrace)...)
	}
	a.ask(http.MethodGet, lockPath+"/status", "", within(joinTrace)...)
	c.span(joinTrace, "GET /api/:room/lock/status")
	require.Empty(t, c.names(smsTrace))
}

// Secrets and identities never reach the collector, also not within an error.
func TestNoSecretAndNoSellerIsInATrace(t *testing.T) {
	c := startCollector(t)
	_, hook := startIntegration(t)
	r, _ := startTraced(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--claim-within", "1m",
		"--sms-webhook-secret", smsSecret, "--webhook-url", hook+"/hook-token",
		"--webhook-secret", smsSecret))
	a, b := newSeller(t, r.URL(), "canary-seller"), newSeller(t, r.URL(), "canary-other")
	body := func(text string) []string {
		return append(within(joinTrace), "Content-Type", "application/json", "Idempotency-Key", "canary-key",
			"Cookie", "x="+text)
	}
	held := a.ask(http.MethodPost, lockPath, `{"seller_id":"canary-seller","asks":true}`,
		body("canary-cookie")...)
	require.Equal(t, http.StatusOK, held.StatusCode, held.body)
	b.ask(http.MethodPost, lockPath, `{"seller_id":"canary-other"}`, body("")...)
	newSeller(t, r.URL(), "canary-seller").ask(http.MethodPost, lockPath, `{"seller_id":"canary-seller"}`,
		body("")...)
	fence := fmt.Sprintf(`{"fence":%d,"from":["15880000"],"contains":"canary-text"}`, held.number("fence"))
	require.Equal(t, http.StatusOK, a.ask(http.MethodPost, lockPath+"/claim", fence, body("")...).StatusCode)
	require.Equal(t, http.StatusOK, a.ask(http.MethodPost, lockPath+"/expect", fence, body("")...).StatusCode)
	link := a.ask(http.MethodPost, lockPath+"/link", "", within(joinTrace)...).text("url")
	a.ask(http.MethodGet, strings.TrimPrefix(link, r.URL()), "", within(joinTrace)...)
	sent := carrierWithin(t, r.URL(), "m-1", "canary-text 인증번호는 [482913] 입니다", time.Now(), within(joinTrace)...)
	require.Equal(t, "matched", sent.text("result"), sent.body)
	a.ask(http.MethodPost, lockPath, `{"seller_id":"canary\u0007seller"}`, body("")...)
	a.ask(http.MethodPost, "/api/canary-room/lock?token=canary-token", "", body("")...)
	require.Equal(t, http.StatusOK, b.ask(http.MethodDelete, lockPath+"?canary-query=1", "",
		within(joinTrace)...).StatusCode)
	b.ask(http.MethodGet, "/support/-/sellers/canary-seller", "", within(joinTrace)...)
	for _, name := range []string{"POST /api/:room/lock/claim", "POST /api/:room/lock/expect",
		"POST /api/:room/lock/link", "POST /api/:room/sms", "room.settle", "outbox.webhook.record",
		"DELETE /api/:room/lock", "GET /support/-/sellers/:seller"} {
		c.span(joinTrace, name)
	}
	require.NoError(t, r.stop(t)) // what is left is sent
	all := c.all()
	require.Contains(t, all, "integration", "rooms are recorded")
	token := link[strings.LastIndex(link, "/")+1:]
	require.NotEmpty(t, token)
	for _, secret := range []string{a.session, b.session, "canary", "482913", "인증번호", "15880000", "1588-0000",
		token, "hook-token", strings.TrimPrefix(smsSecret, "whsec_")} {
		require.NotContains(t, all, secret)
	}
}

func TestACollectorThatIsAwayIsLoggedAndDelaysNoRequest(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1/canary")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20canary")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	r, log := startTraced(t, config(t, "--redis-url", "embedded"))
	a := newSeller(t, r.URL(), "s-1")
	failed := func() int64 { return failedSpans(t, a) }
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	testproc.Until(t, patience, func() error {
		if n := failed(); n == 0 {
			return fmt.Errorf("%d spans were lost", n)
		}
		return nil
	})
	before := failed()
	require.Equal(t, http.StatusOK, a.leave("").StatusCode)
	testproc.Until(t, patience, func() error {
		if n := failed(); n == before {
			return fmt.Errorf("%d spans were lost, as before", n)
		}
		return nil
	})
	require.Equal(t, 1, strings.Count(log.String(), "the collector did not take traces"), log.String())
	require.NotContains(t, log.String(), "canary")
	require.NoError(t, r.stop(t))
}

func failedSpans(t *testing.T, a *seller) (n int64) {
	t.Helper()
	for line := range strings.Lines(a.ask(http.MethodGet, "/metrics", "").body) {
		_, _ = fmt.Sscanf(line, `waitroom_trace_spans_total{result="failed"} %d`, &n)
	}
	return n
}

func TestWithoutAnEndpointThereAreNoTraces(t *testing.T) {
	cfg := config(t, "--redis-url", "embedded")
	require.False(t, cfg.Tracing.On())
	r, log := startTraced(t, cfg)
	a := newSeller(t, r.URL(), "s-1")
	a.ask(http.MethodDelete, lockPath, "", within(joinTrace)...)
	require.Nil(t, r.traces)
	require.NotContains(t, a.ask(http.MethodGet, "/metrics", "").body, "waitroom_trace_spans_total")
	require.NotContains(t, log.String(), joinTrace)
}

func TestAWrongVariableOfOpenTelemetrysStopsTheStart(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")
	_, err := ParseConfig(nil)
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_ENDPOINT: want http://host:port")
}

func TestAPushIsInTheTraceOfTheCallThatGaveTheTurnAndItsServiceGetsNoTraceHeader(t *testing.T) {
	c, service := startCollector(t), pushtest.NewService(t)
	r := start(t, pushConfig(t, "--redis-url", redistest.Lent(t).URL()))
	a, b := newSeller(t, r.URL(), "s-a"), newSeller(t, r.URL(), "s-b")
	a.join()
	b.join()
	require.Equal(t, http.StatusOK, b.subscribe(pushtest.NewBrowser(t,
		service.URL+"/canary-browser")).StatusCode)
	require.Equal(t, http.StatusOK, a.ask(http.MethodDelete, lockPath, "", within(joinTrace)...).StatusCode)
	require.Empty(t, service.Next(patience).Header.Get("Traceparent"))
	requireBelow(t, c.span(joinTrace, "room.leave"), c.span(joinTrace, "ledger.record"),
		c.span(joinTrace, "outbox.push.start"))
	require.NotContains(t, c.all(), "canary")
}
