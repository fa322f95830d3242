package room

import (
	"context"
	"encoding/json"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// traces reports whether a call gets a span. Calls of the sweep, timers and mirrors get none, since each
// would be a trace of its own, many times a second.
func (e *Engine) traces(ctx context.Context) bool {
	return e.cfg.Tracer != nil && trace.SpanContextFromContext(ctx).IsValid()
}

// runTraced runs a verb in a span. The span has the reply's code, but neither the rest of the reply nor the
// arguments.
func (e *Engine) runTraced(ctx context.Context, c call, id ID) (any, error) {
	ctx, span := e.cfg.Tracer.Start(ctx, "room."+c.verb, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	res, err := e.runUntilAnswered(ctx, c, id)
	if !span.IsRecording() {
		return res, err
	}
	span.SetAttributes(semconv.DBSystemNameRedis, semconv.DBOperationName(e.library.command()),
		attribute.String("waitroom.room", string(id)))
	span.SetAttributes(e.peer()...)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		return res, err
	}
	span.SetAttributes(attribute.String("waitroom.result", replyCode(res)))
	return res, nil
}

// peer returns the attributes of Redis's address.
func (e *Engine) peer() []attribute.KeyValue {
	host, port, err := net.SplitHostPort(e.cfg.Address)
	if err != nil {
		return nil
	}
	n, _ := strconv.Atoi(port)
	return []attribute.KeyValue{semconv.ServerAddress(host), semconv.ServerPort(n)}
}

// replyCode returns the code of a refusal, "register" for a call that is retried, and "ok" for any other
// reply.
func replyCode(res any) string {
	var reply struct{ Code string }
	if text, ok := res.(string); ok {
		_ = json.Unmarshal([]byte(text), &reply) // another reply than a verb's is ok too
	}
	if _, refused := refusals[reply.Code]; refused || reply.Code == "register" {
		return reply.Code
	}
	return "ok"
}

// traceOf returns the traceparent of a call's span for the journal; "" if the span is not sampled.
func (e *Engine) traceOf(ctx context.Context) string {
	if e.cfg.Tracer == nil || e.cfg.Journal == 0 || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}
