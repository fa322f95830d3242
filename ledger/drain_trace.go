package ledger

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
)

const traceparent = "traceparent"

// spans are of entries that are taken in.
type spans []trace.Span

// spansOf begins a span for each entry whose script was called within a span, as a part of that trace: many calls are taken in by one transaction. What is told of the
// entry follows from that span.
func (l *Ledger) spansOf(ctx context.Context, id room.ID, entries []room.Entry) (list spans) {
	if l.cfg.Tracer == nil {
		return nil
	}
	for i := range entries {
		e := &entries[i]
		if wellFormed(e.Trace) == "" {
			continue
		}
		ctx, span := l.cfg.Tracer.Start(within(ctx, e.Trace), "ledger.record", trace.WithSpanKind(trace.SpanKindConsumer),
			trace.WithAttributes(attribute.String("waitroom.room", string(id)), semconv.MessagingBatchMessageCount(len(entries))))
		carrier := propagation.MapCarrier{}
		propagation.TraceContext{}.Inject(ctx, carrier)
		e.Trace = carrier.Get(traceparent)
		list = append(list, span)
	}
	return list
}

func (list spans) end(err error) {
	for _, span := range list {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// within is ctx in the span that a traceparent names; one that is none changes nothing.
func within(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
}

// wellFormed is a traceparent, or "" where it is none: what is in the journal is not believed to be right.
func wellFormed(parent string) string {
	if !trace.SpanContextFromContext(within(context.Background(), parent)).IsValid() {
		return ""
	}
	return parent
}
