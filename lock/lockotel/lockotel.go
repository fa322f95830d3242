// Package lockotel makes OpenTelemetry's spans of the calls of a lockredis.Locker: lock.TryLock, lock.Unlock
// and so on, each with the attribute lock.key. Tokens and proofs are in no span.
package lockotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/lock"
)

// Tracer is a lockredis.Tracer.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer that begins its spans by t.
func New(t trace.Tracer) Tracer { return Tracer{t} }

// Start implements lockredis.Tracer.
func (t Tracer) Start(ctx context.Context, call string, key lock.Key) (context.Context, func(error)) {
	ctx, span := t.tracer.Start(ctx, "lock."+call, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("lock.key", key.String())))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
