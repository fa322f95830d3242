package web

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/describe"
)

// span begins a request's span, in the trace of its caller; call the result when it is answered. A request that becomes a socket is answered then. Paths are in none: they
// hold links and sellers. What asks for no room has none: health, metrics, files, and what is not there.
func (s *site) span(c *gin.Context) (end func()) {
	route := c.FullPath()
	if s.Tracer == nil || route == "" || s.untraced[route] {
		return func() {}
	}
	method := semconv.HTTPRequestMethodKey.String(methodOf(c.Request.Method))
	ctx := propagation.TraceContext{}.Extract(c.Request.Context(), propagation.HeaderCarrier(c.Request.Header))
	ctx, span := s.Tracer.Start(ctx, method.Value.AsString()+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(method, semconv.HTTPRoute(route), semconv.URLScheme(s.scheme(c))))
	c.Request = c.Request.WithContext(ctx)
	return func() { s.answered(c, span) }
}

// besideRooms are the routes of what is served beside the rooms.
func besideRooms(handlers map[string]http.Handler) map[string]bool {
	routes := map[string]bool{docsPath: true}
	for _, some := range []map[string]http.Handler{handlers, describe.Handlers()} {
		for route := range some {
			routes[route] = true
		}
	}
	return routes
}

// methodOf keeps a client's own inventions out of names.
func methodOf(method string) string {
	if methodLabel(method) == "other" {
		return "_OTHER"
	}
	return method
}

func (s *site) scheme(c *gin.Context) string {
	if s.proxies.Secure(c) {
		return "https"
	}
	return "http"
}

// answered ends a request's span. The room is told only where there is one of that name: else it is anybody's text.
func (s *site) answered(c *gin.Context, span trace.Span) {
	defer span.End()
	status := c.Writer.Status()
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if id, err := room.ParseID(c.Param("room")); err == nil && s.Rooms.Has(id) {
		span.SetAttributes(attribute.String("waitroom.room", string(id)))
	}
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(otelcodes.Error, "")
	}
}

// spanMessage tells a request's span where its message belongs.
func (s *site) spanMessage(c *gin.Context, a sms.Answer) {
	if s.Tracer == nil {
		return
	}
	span := trace.SpanFromContext(c.Request.Context())
	span.SetAttributes(attribute.String("waitroom.sms.result", string(a.Result)))
	if a.Reason != "" {
		span.SetAttributes(attribute.String("waitroom.sms.reason", string(a.Reason)))
	}
}
