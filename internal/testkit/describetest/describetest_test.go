package describetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// documents returns the product's own descriptions.
func documents(t *testing.T) (openAPI, asyncAPI []byte) {
	t.Helper()
	openAPI, err := os.ReadFile("../../../web/describe/openapi.yaml")
	require.NoError(t, err)
	asyncAPI, err = os.ReadFile("../../../web/describe/asyncapi.yaml")
	require.NoError(t, err)
	return openAPI, asyncAPI
}

func recorder(t *testing.T) *Recorder {
	t.Helper()
	r, err := New(documents(t))
	require.NoError(t, err)
	return r
}

const (
	waiting = `{"status":"waiting","room":"integration","session_id":"3f1f6d2e-6a2b-4d37-9a54-0f5c8a1b2c3d","seller_id":"s-2","ticket":2,"queue_position":1,` +
		`"queue_length":1,"estimated_wait":120,"maximum_wait":null,"lease_expires_at":null,"epoch":9,"version":2}`
	state = `{"type":"state","room":"integration","epoch":9,"version":2,"server_time":7,"status":"waiting","outcome":null,"ticket":2,"queue_position":1,` +
		`"queue_length":1,"estimated_wait":115,"maximum_wait":115,"lease_expires_at":9,"fence":null,"opens_at":null,"notice":null,"paused":false,"claim_by":null,"codes":null}`
	webhook = `{"type":"lock.granted","timestamp":"2026-11-21T03:00:54.435Z","data":{"room":"integration","ticket":1,"fence":9,"seller_id":"s-1"}}`
	refused = `{"type":"urn:waitroom:problem:lock_held","title":"t","status":409,"code":"lock_held","detail":"d"}`
)

func contentType(kind string) http.Header { return http.Header{"Content-Type": {kind}} }

func TestAnswerThatIsNotAsDescribedIsFound(t *testing.T) {
	r := recorder(t)
	const lock, problem = "/api/integration/lock", "application/problem+json"
	for name, c := range map[string]struct {
		method, path string
		status       int
		header       http.Header
		body, wrong  string // "" = nothing is
	}{
		"as described": {"POST", lock, 202, contentType("application/json; charset=utf-8"), waiting, ""},
		"field renamed": {"POST", lock, 202, contentType("application/json"),
			strings.Replace(waiting, "queue_position", "position", 1), "queue_position"},
		"field left out": {"POST", lock, 202, contentType("application/json"),
			strings.Replace(waiting, `"epoch":9,`, "", 1), "epoch"},
		"field added": {"POST", lock, 202, contentType("application/json"),
			strings.Replace(waiting, `"epoch"`, `"age":1,"epoch"`, 1), "age"},
		"another type": {"POST", lock, 202, contentType("application/json"),
			strings.Replace(waiting, `:120`, `:"120"`, 1), "estimated_wait"},
		"another status":       {"POST", lock, 201, contentType("application/json"), waiting, "no such status"},
		"another content type": {"POST", lock, 202, contentType("text/html"), waiting, "content type"},
		"no content type":      {"POST", lock, 202, http.Header{}, waiting, "content type"},
		"a problem":            {"POST", lock, 409, contentType(problem), refused, ""},
		"code of another status": {"POST", lock, 409, contentType(problem),
			strings.Replace(refused, `"lock_held"`, `"stale_fence"`, 1), "not named"},
		"unknown code": {"POST", lock, 409, contentType(problem),
			strings.Replace(refused, `"lock_held"`, `"held"`, 1), "code"},
		"no Retry-After": {"POST", lock, 503, contentType(problem),
			strings.NewReplacer("409", "503", `"lock_held"`, `"room_full"`).Replace(refused), "Retry-After"},
		"path that is not there": {"POST", "/api/integration/locks", 200, contentType("application/json"), waiting,
			"is described"},
		"its refusal": {"POST", "/api/integration/locks", 404, contentType(problem),
			strings.NewReplacer("409", "404", "lock_held", "not_found").Replace(refused), ""},
		"a method that is not":    {"PUT", lock, 200, contentType("application/json"), waiting, "is described"},
		"a page":                  {"GET", "/rooms/integration", 200, contentType("text/html"), "<p>", ""},
		"a body that must not be": {"GET", "/api/integration/ws", 101, http.Header{}, "x", "body"},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.Answer(c.method, c.path, c.status, c.header, []byte(c.body))
			if c.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.wrong)
		})
	}
}

func TestFrameOrWebhookThatIsNotAsDescribedIsFound(t *testing.T) {
	r := recorder(t)
	frame := func(was, is string) error {
		return r.Frame("/api/stock:1/ws", []byte(strings.Replace(state, was, is, 1)))
	}
	require.NoError(t, frame("", ""))
	for was, is := range map[string]string{`"claim_by":null,`: "", `"ticket"`: `"number"`,
		`"codes":null`: `"codes":null,"more":1`, `"state"`: `"status"`,
		`"queue_position":1`: `"queue_position":null`, `"fence":null`: `"fence":9`, `"waiting"`: `"queued"`} {
		require.Error(t, frame(was, is), is)
	}
	require.Error(t, r.Frame("/api/support/ws", []byte(state)), "another socket sends other frames")
	require.Error(t, r.Frame("/api/support/integration/ws", []byte(state)))
	require.Error(t, r.Frame("/elsewhere", []byte(state)))

	signed := http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {"1795230054"},
		"Webhook-Signature": {"v1,AAAA"}}
	require.NoError(t, r.Webhook(signed, []byte(webhook)))
	require.ErrorContains(t, r.Webhook(http.Header{}, []byte(webhook)), "headers")
	require.Error(t, r.Webhook(signed, []byte(strings.Replace(webhook, "seller_id", "seller", 1))))
	require.NotContains(t, r.Unseen(), "room state")
	require.NotContains(t, r.Unseen(), "webhooks lock.granted")
	require.Contains(t, r.Unseen(), "webhooks lock.ended")
}

func TestHandlerPassesRecordedRequestsOn(t *testing.T) {
	r := recorder(t)
	h := r.Handler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, waiting)
		w.(http.Flusher).Flush()
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/integration/lock", nil))
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Equal(t, waiting, w.Body.String())
	require.True(t, w.Flushed)
	require.NotContains(t, r.Unseen(), "join 202")
	require.Contains(t, r.Unseen(), "join 200")
}

func TestFramesAreReadHoweverTheyArrive(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	stream := "\x81\x02hi" + "\x89\x00" + "\x81\x7e\x01\x00" + long[:256] +
		"\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70" + long
	for _, piece := range []int{1, 3, 1000, len(stream)} {
		var lengths []int
		l := &listener{ReadWriteCloser: pipe{strings.NewReader(stream)}, received: func(text []byte) {
			lengths = append(lengths, len(text))
		}}
		got, err := io.ReadAll(io.LimitReader(pieces{l, piece}, int64(len(stream))))
		require.NoError(t, err)
		require.Equal(t, stream, string(got))
		require.Equal(t, []int{2, 256, 70_000}, lengths)
	}
}

type pipe struct{ io.Reader }

func (pipe) Write(p []byte) (int, error) { return len(p), nil }
func (pipe) Close() error                { return nil }

type pieces struct {
	io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(p.size, len(b))]) }

func TestEverySchemaIsOneAndWhatBothDocumentsHaveIsTheSame(t *testing.T) {
	openAPI, asyncAPI := documents(t)
	open, err := readDocument("openapi.yaml", openAPI, jsonschema.Draft2020)
	require.NoError(t, err)
	async, err := readDocument("asyncapi.yaml", asyncAPI, jsonschema.Draft7)
	require.NoError(t, err)
	for _, d := range []*document{open, async} {
		for _, s := range at(d.root, "components", "schemas") {
			d.schema(s)
		}
		_, err := d.compile()
		require.NoError(t, err)
	}
	shared := 0
	for name, s := range at(async.root, "components", "schemas") {
		other := at(open.root, "components", "schemas", name)
		if other == nil {
			continue
		}
		shared++
		ours, err := json.Marshal(s)
		require.NoError(t, err)
		theirs, err := json.Marshal(other)
		require.NoError(t, err)
		require.JSONEq(t, string(theirs), string(ours), name)
	}
	require.Positive(t, shared)
}

func TestReferenceThatLeadsNowhereStopsTheReading(t *testing.T) {
	openAPI, asyncAPI := documents(t)
	_, err := New([]byte(strings.Replace(string(openAPI), "schemas/Waiting", "schemas/Queued", 1)), asyncAPI)
	require.Error(t, err)
	_, err = New(openAPI,
		[]byte(strings.Replace(string(asyncAPI), "components/messages/sms'", "components/messages/text'", 1)))
	require.Error(t, err)
}

func TestUntestedSchemasAreNamedUnlessExcused(t *testing.T) {
	passed := Run{Excused: map[string]string{"* 500": "because", "room ping": "because"}}
	require.True(t, passed.excuses("join 500"))
	require.True(t, passed.excuses("room ping"))
	require.False(t, passed.excuses("join 503"))
	require.False(t, passed.excuses("desk ping"))
}
