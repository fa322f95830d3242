package room

import (
	"context"
	"net"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// traces reports whether a call is to have a span. What goes on by itself (the sweep, timers, mirrors) has none: it would be a trace of its own many times a second.
func (e *Engine) traces(ctx context.Context) bool {
	return e.cfg.Tracer != nil && trace.SpanContextFromContext(ctx).IsValid()
}

// runTraced is run within a span of its own. Neither what the script is handed nor what it replies is in it, but for the code that the reply begins with.
func (e *Engine) runTraced(ctx context.Context, c call, id ID, own []string) (any, error) {
	ctx, span := e.cfg.Tracer.Start(ctx, "room."+c.verb, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	res, err := e.runUntilAnswered(ctx, c, id, own)
	if !span.IsRecording() {
		return res, err
	}
	span.SetAttributes(semconv.DBSystemNameRedis, semconv.DBOperationName(e.library.command()), attribute.String("waitroom.room", string(id)))
	span.SetAttributes(e.peer()...)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		return res, err
	}
	span.SetAttributes(attribute.String("waitroom.result", replyCode(res)))
	return res, nil
}

// peer is the store's address.
func (e *Engine) peer() []attribute.KeyValue {
	host, port, err := net.SplitHostPort(e.cfg.Address)
	if err != nil {
		return nil
	}
	n, _ := strconv.Atoi(port)
	return []attribute.KeyValue{semconv.ServerAddress(host), semconv.ServerPort(n)}
}

// replyCode is the code of a refusal, or "register" of a call that is made again once the room is in the index; "ok" for all else.
func replyCode(res any) string {
	text, _ := res.(string)
	code, _, _ := strings.Cut(text, " ")
	if _, refused := refusals[code]; refused || code == "register" {
		return code
	}
	return "ok"
}

// traceOf is what the journal keeps of the span that a call is made in: nothing of one that is not sampled, since nobody would see what goes on in it.
func (e *Engine) traceOf(ctx context.Context) string {
	if e.cfg.Tracer == nil || e.cfg.Journal == 0 || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}
