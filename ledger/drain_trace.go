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

// spans are open while entries are applied.
type spans []trace.Span

// spansOf starts a span for each entry that was written within a span, as a part of that trace. One
// transaction applies entries of many traces. Tasks that follow from the entry belong to the new span.
func (l *Ledger) spansOf(ctx context.Context, portions []*portion) (list spans) {
	if l.cfg.Tracer == nil {
		return nil
	}
	for _, p := range portions {
		for i := range p.entries {
			if e := &p.entries[i]; wellFormed(e.Trace) != "" {
				list = append(list, l.span(ctx, p, e))
			}
		}
	}
	return list
}

// span starts an entry's span, and makes it the entry's trace.
func (l *Ledger) span(ctx context.Context, p *portion, e *room.Entry) trace.Span {
	ctx, span := l.cfg.Tracer.Start(within(ctx, e.Trace), "ledger.record",
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.String("waitroom.room", string(p.id)),
			semconv.MessagingBatchMessageCount(len(p.entries))))
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	e.Trace = carrier.Get(traceparent)
	return span
}

func (list spans) end(err error) {
	for _, span := range list {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// within returns ctx inside the span that a traceparent names, or ctx itself if the traceparent is not valid.
func within(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
}

// wellFormed returns the traceparent, or "" if it is not valid. The journal's text is not trusted.
func wellFormed(parent string) string {
	if !trace.SpanContextFromContext(within(context.Background(), parent)).IsValid() {
		return ""
	}
	return parent
}
