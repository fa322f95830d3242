package outbox

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// span starts a span for one attempt of a task's phase, in the task's trace. The caller passes the handler's
// error to end.
func (w *Worker) span(ctx context.Context, t Task) (_ context.Context, end func(error)) {
	if w.tracer == nil {
		return ctx, func(error) {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": t.Traceparent})
	ctx, span := w.tracer.Start(ctx, "outbox."+t.Kind+"."+string(t.Phase),
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
			attribute.Int64("outbox.task", t.ID), attribute.String("outbox.key", t.Key),
			attribute.Int64("outbox.attempts", t.Attempts)))
	return ctx, func(failed error) {
		if failed != nil && !errors.Is(failed, ErrNotReady) {
			span.SetStatus(codes.Error, plain(failed.Error()))
		}
		span.End()
	}
}
