// Package tracing sends OpenTelemetry traces to a collector, if one is configured. Packages with spans import
// the API alone; the SDK and the exporter are here.
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Service is the program's default name in traces; OTEL_SERVICE_NAME overrides it.
const Service = "waitroom"

// module begins the names of all tracers.
const module = "github.com/waitroom/waitroom/"

// closeWithin is the time a stopping program gives the collector for the last spans.
const closeWithin = 3 * time.Second

// Traces makes spans and sends them. A nil one makes none.
type Traces struct{ provider *sdk.TracerProvider }

// Options are the program's part of the configuration.
type Options struct {
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Instance   string // identifies this replica
}

// Open starts tracing; it returns nil without a configuration. It does not contact the collector, which need
// not be there.
func Open(ctx context.Context, c Config, o Options) (*Traces, error) {
	if !c.On() {
		return nil, nil
	}
	exporter, err := otlptrace.New(ctx, newClient(c))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(Service),
		semconv.ServiceVersion(cmp.Or(c.Version, version())), semconv.ServiceInstanceID(o.Instance)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // the operator's values take precedence
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	o.Log.InfoContext(ctx, "traces are sent", "collector", c.Address())
	return &Traces{sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(newReporter(exporter, o)))},
		nil
}

// version returns the program's version from Go's build information.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// Tracer returns a package's tracer; nil without traces.
func (t *Traces) Tracer(pkg string) trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(module + pkg)
}

// Close sends the remaining spans, within three seconds.
func (t *Traces) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // lost spans were counted and logged
}
