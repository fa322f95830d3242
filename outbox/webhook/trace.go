package webhook

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// traced starts a span for a request that is made within one, and adds the header traceparent. The span has
// no address, since that may contain a token. The caller passes the answer's status or the error to end.
func traced(req *http.Request) (_ *http.Request, end func(status int, err error)) {
	within := trace.SpanFromContext(req.Context())
	if !within.SpanContext().IsValid() {
		return req, func(int, error) {}
	}
	tracer := within.TracerProvider().Tracer("github.com/waitroom/waitroom/outbox/webhook")
	ctx, span := tracer.Start(req.Context(), req.Method,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(semconv.HTTPRequestMethodPost))
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	return req.WithContext(ctx), func(status int, err error) {
		defer span.End()
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
			return
		}
		span.SetAttributes(semconv.HTTPResponseStatusCode(status))
		if status < 200 || status > 299 {
			span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
			span.SetStatus(codes.Error, "")
		}
	}
}
