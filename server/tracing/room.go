package tracing

import (
	"context"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
)

// RoomTracer returns the tracer of the engine; nil without traces. Calls of the sweep, timers and mirrors get
// no spans, since each would be a trace of its own, many times a second.
func (t *Traces) RoomTracer() room.Tracer {
	if t == nil {
		return nil
	}
	return roomTracer{t.Tracer("room")}
}

type roomTracer struct{ tracer trace.Tracer }

func (r roomTracer) Start(ctx context.Context, verb string) (context.Context, func(room.Called)) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, nil
	}
	ctx, span := r.tracer.Start(ctx, "room."+verb, trace.WithSpanKind(trace.SpanKindClient))
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, func(c room.Called) {
		defer span.End()
		span.SetAttributes(semconv.DBSystemNameRedis, semconv.DBOperationName(c.Command),
			attribute.String("waitroom.room", string(c.Room)))
		span.SetAttributes(peer(c.Address)...)
		if c.Err != nil {
			span.SetStatus(codes.Error, c.Err.Error())
			return
		}
		span.SetAttributes(attribute.String("waitroom.result", c.Result))
	}
}

func (roomTracer) Traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// peer returns the attributes of Redis's address.
func peer(address string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	n, _ := strconv.Atoi(port)
	return []attribute.KeyValue{semconv.ServerAddress(host), semconv.ServerPort(n)}
}
