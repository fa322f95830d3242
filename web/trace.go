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
	"github.com/waitroom/waitroom/web/describe"
)

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
