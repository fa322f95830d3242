package outbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/outbox"
)

func TestAPhaseIsASpanInTheTraceOfItsTask(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		kept := tracetest.NewSpanRecorder()
		within := make(map[string]trace.SpanContext)
		w, err := outbox.NewWorker(outbox.Config{Store: b.store,
			Tracer: sdk.NewTracerProvider(sdk.WithSpanProcessor(kept)).Tracer("test"),
			Kinds: map[string]outbox.Kind{job: {
				Parallel: 1, Do: func(ctx context.Context, task outbox.Task) (outbox.Phase, error) {
					within[task.Payload] = trace.SpanContextFromContext(ctx)
					switch task.Payload {
					case "fails":
						return "", errors.New("no luck")
					case "waits":
						return "", outbox.ErrNotReady
					}
					return outbox.Done, nil
				}}}})
		require.NoError(t, err)
		b.putAll(t, outbox.Task{Kind: job, Payload: "goes on", Traceparent: parent},
			outbox.Task{Kind: job, Payload: "begins"}, outbox.Task{Kind: job, Payload: "fails"},
			outbox.Task{Kind: job, Payload: "waits"})
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", within["goes on"].TraceID().String())
		require.NotEqual(t, within["goes on"].TraceID(), within["begins"].TraceID())
		require.True(t, within["begins"].IsValid())
		spans := make(map[trace.SpanID]sdk.ReadOnlySpan)
		for _, s := range kept.Ended() {
			require.Equal(t, "outbox.job.start", s.Name())
			spans[s.SpanContext().SpanID()] = s
		}
		require.Len(t, spans, 4)
		require.Equal(t, "00f067aa0ba902b7", spans[within["goes on"].SpanID()].Parent().SpanID().String())
		require.Equal(t, sdk.Status{Code: codes.Error, Description: "no luck"},
			spans[within["fails"].SpanID()].Status())
		require.Equal(t, codes.Unset, spans[within["waits"].SpanID()].Status().Code)
	})
}
