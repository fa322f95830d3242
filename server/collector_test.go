package server

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// collector receives traces by OTLP over HTTP.
type collector struct {
	t      *testing.T
	mu     sync.Mutex
	spans  map[string]*tracepb.Span // by trace and span
	bodies []byte
}

// startCollector starts a collector, and makes the servers of this test export their traces to it.
func startCollector(t *testing.T) *collector {
	c := &collector{t: t, spans: make(map[string]*tracepb.Span)}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var data tracepb.TracesData
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" ||
		proto.Unmarshal(body, &data) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, body...)
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans[spanKey(span.TraceId, span.SpanId)] = span
			}
		}
	}
}

func spanKey(trace, span []byte) string {
	return hex.EncodeToString(trace) + "/" + hex.EncodeToString(span)
}

// span waits for the span of that name in a trace. Of a script that ran again after its room's registration,
// it returns the second.
func (c *collector) span(trace, name string) (found *tracepb.Span) {
	c.t.Helper()
	testproc.Until(c.t, patience, func() error {
		for _, s := range c.of(trace) {
			if s.Name == name && attribute(s, "waitroom.result") != "register" {
				found = s
				return nil
			}
		}
		return fmt.Errorf("no span %s among %v", name, c.names(trace))
	})
	return found
}

// of returns the spans of a trace that have arrived so far.
func (c *collector) of(trace string) (list []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == trace {
			list = append(list, s)
		}
	}
	return list
}

func (c *collector) names(trace string) (names []string) {
	for _, s := range c.of(trace) {
		names = append(names, s.Name)
	}
	return names
}

// all returns every received byte; texts are readable in it.
func (c *collector) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.bodies)
}

// attribute returns a span's attribute; "" = none.
func attribute(s *tracepb.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			return fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return ""
}

// requireBelow requires each span to be the child of the one before it.
func requireBelow(t *testing.T, chain ...*tracepb.Span) {
	t.Helper()
	for i, s := range chain[1:] {
		require.Equal(t, chain[i].SpanId, s.ParentSpanId, "%s is below %s", s.Name, chain[i].Name)
	}
}
