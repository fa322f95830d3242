package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// failing is an exporter whose collector cannot be reached.
type failing struct{ sdk.SpanExporter }

func (failing) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	return errors.New("connection refused")
}

func TestALineWithinASpanNamesItAndOthersDoNot(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(LogHandler{slog.NewTextHandler(&out, nil)}).With("part", "x")
	provider := sdk.NewTracerProvider()
	ctx, span := provider.Tracer("test").Start(t.Context(), "work")
	log.InfoContext(ctx, "within")
	require.Contains(t, out.String(), "part=x trace_id="+span.SpanContext().TraceID().String()+" span_id="+
		span.SpanContext().SpanID().String())
	out.Reset()
	log.InfoContext(t.Context(), "beside")
	require.NotContains(t, out.String(), "trace_id")
}
