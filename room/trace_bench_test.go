package room_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// BenchmarkTraced joins and leaves a free room: without traces, with unsampled ones, and with sampled ones.
func BenchmarkTraced(b *testing.B) {
	drop := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())).Tracer("test")
	keep := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample())).Tracer("test")
	for _, c := range []struct {
		name   string
		tracer trace.Tracer
	}{{"off", nil}, {"unsampled", drop}, {"sampled", keep}} {
		b.Run(c.name, func(b *testing.B) {
			e := room.New(redistest.Start(b).Client(), room.Config{Journal: 1000, Tracer: c.tracer})
			ctx := b.Context()
			if c.tracer != nil {
				ctx, _ = c.tracer.Start(ctx, "request")
			}
			session := room.NewSession()
			b.ReportAllocs()
			for b.Loop() {
				_, err := e.Join(ctx, integration, room.JoinRequest{Session: session, Seller: "a"})
				require.NoError(b, err)
				_, err = e.Leave(ctx, integration,
					room.LeaveRequest{Session: session, Outcome: room.Cancelled})
				require.NoError(b, err)
			}
		})
	}
}
