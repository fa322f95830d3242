package tracing

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// request returns the engine's tracer, the recorder of its spans, and a context within a span, such as a
// handler of HTTP requests has.
func request(t testing.TB, sampler sdk.Sampler) (room.Tracer, *tracetest.SpanRecorder, context.Context) {
	kept := tracetest.NewSpanRecorder()
	traces := &Traces{sdk.NewTracerProvider(sdk.WithSpanProcessor(kept), sdk.WithSampler(sampler))}
	ctx, span := traces.Tracer("web").Start(t.Context(), "request")
	t.Cleanup(func() { span.End() })
	return traces.RoomTracer(), kept, ctx
}

func TestACallHasASpanWithinItsRequest(t *testing.T) {
	tracer, kept, ctx := request(t, sdk.AlwaysSample())
	inner, end := tracer.Start(ctx, "join")
	end(room.Called{Room: "integration", Command: "FCALL", Address: "redis:6379", Result: "stale_fence"})
	span := kept.Ended()[0]
	require.Equal(t, "room.join", span.Name())
	got := map[string]string{}
	for _, a := range span.Attributes() {
		got[string(a.Key)] = a.Value.String()
	}
	require.Equal(t, map[string]string{"db.system.name": "redis", "db.operation.name": "FCALL",
		"waitroom.room": "integration", "waitroom.result": "stale_fence", "server.address": "redis",
		"server.port": "6379"}, got)
	id := span.SpanContext()
	require.Equal(t, "00-"+id.TraceID().String()+"-"+id.SpanID().String()+"-01", tracer.Traceparent(inner))

	_, end = tracer.Start(ctx, "join")
	end(room.Called{Err: errors.New("redis is away")})
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "redis is away"}, kept.Ended()[1].Status())

	_, end = tracer.Start(t.Context(), "expire")
	require.Nil(t, end, "what is called within no span has none")
	require.Empty(t, tracer.Traceparent(t.Context()))
}

func TestACallOfAnUnsampledTraceRecordsNothing(t *testing.T) {
	tracer, _, ctx := request(t, sdk.NeverSample())
	ctx, end := tracer.Start(ctx, "join")
	require.Nil(t, end)
	require.Empty(t, tracer.Traceparent(ctx))
	require.Nil(t, (*Traces)(nil).RoomTracer())
}

// BenchmarkTraced joins and leaves a free room: without traces, with unsampled ones, and with sampled ones.
func BenchmarkTraced(b *testing.B) {
	for name, sampler := range map[string]sdk.Sampler{"off": nil, "unsampled": sdk.NeverSample(),
		"sampled": sdk.AlwaysSample()} {
		b.Run(name, func(b *testing.B) {
			c, ctx := room.Config{Journal: 1000}, b.Context()
			if sampler != nil {
				c.Tracer, _, ctx = request(b, sampler)
			}
			e, session := room.New(redistest.Start(b).Client(), c), room.NewSession()
			b.ReportAllocs()
			for b.Loop() {
				_, err := e.Join(ctx, "integration", room.JoinRequest{Session: session, Seller: "a"})
				require.NoError(b, err)
				_, err = e.Leave(ctx, "integration", room.LeaveRequest{Session: session, Outcome: room.Cancelled})
				require.NoError(b, err)
			}
		})
	}
}
