package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// from is a request of a peer with lines of X-Forwarded-For.
func from(peer string, lines ...string) *gin.Context {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("GET", "/", nil)
	c.Request.RemoteAddr = peer
	for _, line := range lines {
		c.Request.Header.Add("X-Forwarded-For", line)
	}
	return c
}

func TestUnnamedProxyIsWarnedOfOnce(t *testing.T) {
	var out bytes.Buffer
	m := newSite(Config{Log: slog.New(slog.NewTextHandler(&out, nil)),
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}).mw
	for _, quiet := range []*gin.Context{from("10.0.0.2:1"), from("10.0.0.1:1", "203.0.113.1"),
		from("203.0.113.9:1", "203.0.113.1")} {
		m.noticeProxy(quiet)
		require.Empty(t, out.String())
	}
	for range 3 {
		m.noticeProxy(from("10.0.0.2:1", "203.0.113.1"))
	}
	require.Equal(t, 1, strings.Count(out.String(), "WAITROOM_TRUSTED_PROXIES"))
	require.Contains(t, out.String(), "proxy=10.0.0.2")
}

// granting is an engine whose lock is free.
type granting struct{ Engine }

func (granting) Join(_ context.Context, _ room.ID, q room.JoinRequest) (room.Standing, error) {
	lease := &room.Lease{Ticket: 1, Fence: 1, GrantedAt: 1, ExpiresAt: 120_001}
	return room.Standing{View: room.View{Room: wire.Room{Epoch: 1, Version: 1}, Now: 1, Lease: lease},
		Place: room.Place{Status: room.Locked, Ticket: 1, Seller: q.Seller, Fence: 1}}, nil
}

// BenchmarkJoinRequest measures the handler of a POST lock without the store. It runs without traces, with
// dropped ones, and with all kept.
func BenchmarkJoinRequest(b *testing.B) {
	drop := sdk.NewTracerProvider(sdk.WithSampler(sdk.ParentBased(sdk.NeverSample()))).Tracer("test")
	keep := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample())).Tracer("test")
	for _, c := range []struct {
		name   string
		tracer trace.Tracer
	}{{"off", nil}, {"unsampled", drop}, {"sampled", keep}} {
		b.Run(c.name, func(b *testing.B) { benchmarkJoinRequest(b, Config{Tracer: c.tracer}) })
	}
}

func benchmarkJoinRequest(b *testing.B, c Config) {
	gin.SetMode(gin.ReleaseMode)
	rooms, err := ParseRooms("integration")
	require.NoError(b, err)
	c.Engine, c.Rooms, c.Terms = granting{}, rooms, func(room.ID) room.Terms { return room.Terms{} }
	handler, err := New(c)
	require.NoError(b, err)
	session := room.NewSession()
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequest(http.MethodPost, "/api/integration/lock",
			strings.NewReader(`{"seller_id":"s-1"}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Session-ID", session)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body.String())
		}
	}
}

func TestWithoutATracerARequestCostsNothingMore(t *testing.T) {
	m, asked := &middleware{base: &base{}}, false
	g := gin.New()
	g.POST("/api/:room/lock", func(c *gin.Context) {
		request := c.Request
		require.Zero(t, testing.AllocsPerRun(100, func() { m.span(c)() }))
		require.Same(t, request, c.Request)
		asked = true
	})
	req := httptest.NewRequest(http.MethodPost, "/api/integration/lock", nil)
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	g.ServeHTTP(httptest.NewRecorder(), req)
	require.True(t, asked)
}

func TestAClientsOwnMethodsAreNoNamesOfSpans(t *testing.T) {
	require.Equal(t, "POST", methodOf("POST"))
	require.Equal(t, "_OTHER", methodOf("CANARY"))
}
