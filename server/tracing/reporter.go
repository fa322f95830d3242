package tracing

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"
)

// reportEvery is the minimum interval between log lines about failed exports.
const reportEvery = time.Minute

// reporter is an exporter that logs its failures: the SDK would pass them to a process-wide handler.
type reporter struct {
	sdk.SpanExporter
	log   *slog.Logger
	often *rate.Limiter
	spans *prometheus.CounterVec
}

func newReporter(next sdk.SpanExporter, o Options) *reporter {
	r := &reporter{SpanExporter: next, log: o.Log, often: rate.NewLimiter(rate.Every(reportEvery), 1),
		spans: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_trace_spans_total",
			Help: "Spans that the collector took (sent) and that it did not (failed)."}, []string{"result"})}
	if o.Registerer != nil {
		o.Registerer.MustRegister(r.spans)
	}
	return r
}

// ExportSpans sends spans. Spans that the collector refuses are lost.
func (r *reporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	result, err := "sent", r.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		result = "failed"
		if r.often.Allow() {
			r.log.Warn("the collector did not take traces; no request waits for it", "spans", len(spans), "error", err)
		}
	}
	r.spans.WithLabelValues(result).Add(float64(len(spans)))
	return nil
}
