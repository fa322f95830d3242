package web

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/describe"
	"github.com/waitroom/waitroom/web/request"
)

const requestHeader = "X-Request-ID"

var requestPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// metrics counts requests by route, never by path: a room in the path must not create a series.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_http_requests_total",
			Help: "HTTP requests by route, method and status."}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waitroom_http_request_seconds",
			Help:    "How long HTTP requests took, by route and method.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 15)},
			[]string{"route", "method"}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.seconds)
	}
	return m
}

// observe names, times, counts and logs every request. Queries, headers and link tokens are not logged: they
// may hold credentials.
func (m *middleware) observe(c *gin.Context) {
	begun := time.Now()
	id := c.GetHeader(requestHeader)
	if !requestPattern.MatchString(id) {
		id = newRequestID()
	}
	c.Header(requestHeader, id)
	m.noticeProxy(c)
	end := m.span(c)
	c.Next()
	end()

	took, status, route := time.Since(begun), c.Writer.Status(), c.FullPath()
	if route == "" {
		route = "none"
	}
	method := methodLabel(c.Request.Method)
	m.metrics.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.metrics.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	level := slog.LevelDebug
	// 503 is logged once for many
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		level = slog.LevelInfo
	}
	if !m.Log.Enabled(c.Request.Context(), level) {
		return
	}
	m.Log.Log(c.Request.Context(), level, "request", "request", id, "method", c.Request.Method,
		"path", loggedPath(c.Request.URL.Path), "status", status, "took", took, "client",
		m.proxies.Client(c).String())
}

// newRequestID returns the request's name in logs and answers. It proves nothing, so it may be guessable.
func newRequestID() string {
	return strconv.FormatUint(rand.Uint64(), 36) + "-" + strconv.FormatUint(rand.Uint64(), 36)
}

// methodLabel keeps methods invented by clients out of the series.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete:
		return method
	}
	return "other"
}

// span begins a request's span in its caller's trace, and returns the function that ends it. A socket's span
// ends with the upgrade. Spans hold no paths, which contain links and sellers. Health, metrics, files, the
// API's descriptions and unknown routes have no span.
func (m *middleware) span(c *gin.Context) (end func()) {
	route := c.FullPath()
	if m.Tracer == nil || route == "" || m.untraced[route] {
		return func() {}
	}
	method := semconv.HTTPRequestMethodKey.String(methodOf(c.Request.Method))
	ctx := propagation.TraceContext{}.Extract(c.Request.Context(), propagation.HeaderCarrier(c.Request.Header))
	ctx, span := m.Tracer.Start(ctx, method.Value.AsString()+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(method, semconv.HTTPRoute(route), semconv.URLScheme(m.scheme(c))))
	c.Request = c.Request.WithContext(ctx)
	return func() { m.answered(c, span) }
}

// besideRooms returns the routes without spans: those of Config.Handlers and of the API's descriptions.
func besideRooms(handlers map[string]http.Handler) map[string]bool {
	routes := map[string]bool{docsPath: true}
	for _, some := range []map[string]http.Handler{handlers, describe.Handlers()} {
		for route := range some {
			routes[route] = true
		}
	}
	return routes
}

// methodOf keeps methods invented by clients out of span names.
func methodOf(method string) string {
	if methodLabel(method) == "other" {
		return "_OTHER"
	}
	return method
}

func (m *middleware) scheme(c *gin.Context) string {
	if m.proxies.Secure(c) {
		return "https"
	}
	return "http"
}

// answered ends a request's span. It records the room only if the room exists: the path is a client's text.
func (m *middleware) answered(c *gin.Context, span trace.Span) {
	defer span.End()
	status := c.Writer.Status()
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if id, err := room.ParseID(c.Param("room")); err == nil && m.Rooms.Has(id) {
		span.SetAttributes(attribute.String("waitroom.room", string(id)))
	}
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(otelcodes.Error, "")
	}
}

// unnamed warns once about a proxy that is not in TRUSTED_PROXIES: all its clients then have its address.
type unnamed struct{ once sync.Once }

func (m *middleware) noticeProxy(c *gin.Context) {
	if c.GetHeader(request.ForwardedFor) == "" {
		return
	}
	from := request.Peer(c)
	if m.proxies.Trusts(from) || !(from.IsPrivate() || from.IsLoopback() || from.IsLinkLocalUnicast()) {
		return
	}
	m.unnamed.once.Do(func() {
		m.Log.Warn("requests come through a proxy that is not in WAITROOM_TRUSTED_PROXIES "+
			"(--trusted-proxies): "+
			"all clients behind it count as one address, for every limit", "proxy", from.String())
	})
}
