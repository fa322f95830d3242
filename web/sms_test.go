package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/request"
)

func TestMessageIsHandedOnAndAnsweredAsTheContractSays(t *testing.T) {
	for want, answer := range map[string]sms.Answer{
		`{"result":"matched","ticket":3,"fence":9}`:   {Result: room.Matched, Ticket: 3, Fence: 9},
		`{"result":"unmatched","reason":"ambiguous"}`: {Result: room.Unmatched, Reason: room.Ambiguous},
	} {
		w := ask(t, handler(t, Config{SMS: broken{answer: answer}}), "POST", "/api/integration/sms")
		require.Equal(t, http.StatusOK, w.Code)
		require.JSONEq(t, want, w.Body.String())
	}
	w := ask(t, handler(t, Config{SMS: broken{err: fmt.Errorf("match: %w", room.ErrStore)}}), "POST",
		"/api/integration/sms")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), `"code":"store_unavailable"`)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
}

func TestMessagesAreCheckedInTheOrderOfTheContract(t *testing.T) {
	const secret = "whsec_d2FpdHJvb20tdGVzdC1zZWNyZXQtMDE="
	service, err := sms.New(sms.Config{Secret: secret, Engine: unaudited{}})
	require.NoError(t, err)
	tooLarge := `{"text":"` + strings.Repeat("x", request.MaxBody) + `"}`
	tests := []struct {
		name, body string
		sms        SMS
		signed     bool
		status     int
		code       string
		detail     string
	}{
		{"too large, not configured", tooLarge, nil, false, http.StatusRequestEntityTooLarge, "body_too_large", ""},
		{"not configured, not signed", "{", nil, false, http.StatusServiceUnavailable, "sms_not_configured", ""},
		{"too large, not signed", tooLarge, service, false, http.StatusRequestEntityTooLarge, "body_too_large", ""},
		{"not signed, no JSON", "{", service, false, http.StatusUnauthorized, "bad_signature", ""},
		{"no JSON", "{", service, true, http.StatusBadRequest, "invalid_json", "message_id"},
		{"empty", "", service, true, http.StatusBadRequest, "invalid_json", "message_id"},
		{"no message", "{}", service, true, http.StatusBadRequest, "invalid_message", "message_id"},
		{"no time", `{"message_id":"m","text":"4829","sent_at":"4829"}`, service, true, http.StatusBadRequest,
			"invalid_message", "RFC 3339"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/integration/sms",
				strings.NewReader(tt.body))
			r.Header.Set("Accept-Language", "en")
			if tt.signed {
				sign(t, secret, r, tt.body)
			}
			w := httptest.NewRecorder()
			handler(t, Config{SMS: tt.sms}).ServeHTTP(w, r)
			require.Equal(t, tt.status, w.Code)
			require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
			require.Contains(t, w.Body.String(), `"code":"`+tt.code+`"`)
			require.Contains(t, w.Body.String(), tt.detail)
			require.NotContains(t, w.Body.String(), "4829")
		})
	}
}

// unaudited is an engine without support.
type unaudited struct{ sms.Engine }

func (unaudited) At(at time.Time) int64 { return at.UnixMilli() }

func (unaudited) Incident(context.Context, room.ID, string, string, string) error { return nil }

func sign(t *testing.T, secret string, r *http.Request, body string) {
	t.Helper()
	webhook, err := webhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := webhook.Sign("msg_1", now, []byte(body))
	require.NoError(t, err)
	r.Header.Set("webhook-id", "msg_1")
	r.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	r.Header.Set("webhook-signature", signature)
}

func TestSourceIsAnsweredAsItExpects(t *testing.T) {
	matched := sms.Answer{Result: room.Unmatched, Reason: room.Ambiguous}
	tests := []struct {
		name   string
		sms    SMS
		header string
		status int
		kind   string
		body   string
	}{
		{"not set up at all", nil, "", 404, "application/problem+json", `"code":"unknown_source"`},
		{"not set up", broken{err: sms.ErrUnknownSource}, "", 404, "application/problem+json",
			`"code":"unknown_source"`},
		{"not signed", broken{err: &sms.SignatureFault{Hint: "hush"}}, "", 401, "application/problem+json",
			`"code":"bad_signature"`},
		{"no body", broken{err: sms.FaultBody}, "", 400, "application/problem+json", `"code":"invalid_json"`},
		{"encrypted", broken{err: sms.FaultEncrypted}, "", 400, "application/problem+json",
			`turn off the encryption`},
		{"store away", broken{err: fmt.Errorf("match: %w", room.ErrStore)}, "", 503, "application/problem+json",
			`"code":"store_unavailable"`},
		{"nobody's", broken{answer: matched}, "", 200, "application/json",
			`{"result":"unmatched","reason":"ambiguous"}`},
		{"a ping", broken{err: sms.ErrIgnored}, "", 204, "", ""},
		{"Twilio's", broken{answer: matched}, "X-Twilio-Signature", 200, "text/xml", "<Response/>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A query counts for nothing but a signature: SmsForwarder adds one of its own.
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/integration/sms/phone?t=%",
				strings.NewReader(`{}`))
			r.Header.Set("Accept-Language", "en")
			if tt.header != "" {
				r.Header.Set(tt.header, "x")
			}
			w := httptest.NewRecorder()
			handler(t, Config{SMS: tt.sms}).ServeHTTP(w, r)
			require.Equal(t, tt.status, w.Code)
			require.True(t, strings.HasPrefix(w.Header().Get("Content-Type"), tt.kind), w.Header())
			require.Contains(t, w.Body.String(), tt.body)
			require.NotContains(t, w.Body.String(), "hush")
		})
	}
	var refused string
	h := handler(t, Config{Refused: func(_ room.ID, _, code string) { refused = code }})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/api/integration/sms/phone",
		strings.NewReader(strings.Repeat("x", request.MaxBody+1))))
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, "before the source is looked at")
	require.Equal(t, "body_too_large", refused)
}

// slow is a body of which nothing comes until its end.
type slow struct{ begun, end chan struct{} }

func (s slow) Read([]byte) (int, error) {
	select {
	case s.begun <- struct{}{}:
	case <-s.end:
	}
	<-s.end
	return 0, io.EOF
}

func TestLargeBodiesInMemoryAreFew(t *testing.T) {
	h := handler(t, Config{SMS: broken{answer: sms.Answer{Result: room.Unmatched, Reason: room.NoLease}}})
	post := func(body io.Reader) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/api/integration/sms/phone", body))
		return w
	}
	large := strings.Repeat("x", request.MaxBody+1)
	require.Equal(t, http.StatusOK, post(strings.NewReader(large)).Code)
	s := slow{make(chan struct{}), make(chan struct{})}
	var all sync.WaitGroup
	for range largeAtOnce {
		all.Go(func() { post(s) })
		<-s.begun
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, post(strings.NewReader(large)).Code)
	require.Equal(t, http.StatusOK, post(strings.NewReader("x")).Code, "small ones are still taken")
	close(s.end)
	all.Wait()
	require.Equal(t, http.StatusOK, post(strings.NewReader(large)).Code)
}

func TestMessageToAWrongAddressIsARefusedMessage(t *testing.T) {
	type refusal struct {
		room         room.ID
		source, code string
	}
	var got []refusal
	hosts, err := HostOf("https://wait.example")
	require.NoError(t, err)
	h := handler(t, Config{Hosts: hosts,
		Refused: func(id room.ID, source, code string) { got = append(got, refusal{id, source, code}) }})
	for _, tt := range []struct {
		method, host, path string
		status             int
		want               []refusal
	}{
		{"POST", "", "/api/integration/sms/", 404, []refusal{{"integration", "sms", "not_found"}}},
		{"POST", "", "/api/integration/sms/twilio/", 404, []refusal{{"integration", "twilio", "not_found"}}},
		{"POST", "", "/api/Integration/sms", 404, []refusal{{"integration", "sms", "unknown_room"}}},
		{"POST", "", "/api/elsewhere/sms/Twilio", 404, []refusal{{"", "twilio", "unknown_room"}}},
		{"POST", "", "/api/integration/SMS", 404, []refusal{{"integration", "sms", "not_found"}}},
		{"POST", "", "/api/integration/sms/none", 404, []refusal{{"integration", "none", "unknown_source"}}},
		{"POST", "", "/api/sms/none", 404, []refusal{{"", "none", "unknown_source"}}},
		{"POST", "", "/api/sms", 404, []refusal{{"", "sms", "not_found"}}},
		{"PUT", "", "/api/integration/sms", 405, []refusal{{"integration", "sms", "method_not_allowed"}}},
		{"GET", "", "/api/integration/sms/vonage?text=1", 405, []refusal{{"integration", "vonage", "method_not_allowed"}}},
		{"POST", "inner:8080", "/api/integration/sms", 421, []refusal{{"integration", "sms", "wrong_host"}}},
		{"GET", "", "/api/integration/sms", 405, nil},
		{"HEAD", "", "/api/integration/sms?a=1", 405, nil},
		{"POST", "", "/api/elsewhere/lock", 404, nil},
		{"POST", "", "/api/sms-room/lock", 404, nil},
		{"POST", "", "/rooms/integration/sms", 404, nil},
	} {
		got = nil
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "https://wait.example"+tt.path, http.NoBody)
		if tt.host != "" {
			r.Host = tt.host
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt.path)
		require.Equal(t, tt.want, got, "%s %s", tt.method, tt.path)
	}
}
