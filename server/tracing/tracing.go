// Package tracing sends OpenTelemetry traces to a collector, where one is configured. The packages that make
// spans know the API alone; the SDK and the exporter are here.
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

// Service is what the program is called in traces unless OTEL_SERVICE_NAME says otherwise.
const Service = "waitroom"

// module begins the names of all tracers.
const module = "github.com/waitroom/waitroom/"

// closeWithin bounds how long a stopping program waits for the collector to take what is left.
const closeWithin = 3 * time.Second

// Traces makes spans and sends them. A nil one makes none.
type Traces struct{ provider *sdk.TracerProvider }

// Options are what Open needs of the program.
type Options struct {
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Instance   string // tells this replica from others
}

// Open makes traces; nil where the configuration has none. It asks the collector nothing: whether it is there
// is no condition of anything.
func Open(ctx context.Context, c Config, o Options) (*Traces, error) {
	if !c.On() {
		return nil, nil
	}
	exporter, err := otlptrace.New(ctx, newClient(c))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(Service), semconv.ServiceVersion(cmp.Or(c.Version, version())), semconv.ServiceInstanceID(o.Instance)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // the last word is the operator's
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	o.Log.InfoContext(ctx, "traces are sent", "collector", c.Address())
	return &Traces{sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(newReporter(exporter, o)))}, nil
}

// version is what Go knows of this program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// Tracer makes the spans of a package; nil where there are none.
func (t *Traces) Tracer(pkg string) trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(module + pkg)
}

// Close sends what has not been sent, if that takes no longer than three seconds.
func (t *Traces) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what could not be sent was counted and told
}
