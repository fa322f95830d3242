package room_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
)

// tracer returns a tracer and the recorder of its spans.
func tracer(sampler sdk.Sampler) (trace.Tracer, *tracetest.SpanRecorder) {
	kept := tracetest.NewSpanRecorder()
	return sdk.NewTracerProvider(sdk.WithSpanProcessor(kept), sdk.WithSampler(sampler)).Tracer("test"), kept
}

// request returns a context within a span, such as a handler of HTTP requests has.
func request(t *testing.T, tr trace.Tracer) context.Context {
	ctx, span := tr.Start(t.Context(), "request")
	t.Cleanup(func() { span.End() })
	return ctx
}

func TestTheJournalNamesTheSpanOfTheScriptThatWroteIt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		tr, kept := tracer(sdk.AlwaysSample())
		e := room.New(rdb, room.Config{Journal: 100, Tracer: tr})
		session := room.NewSession()
		_, err := e.Join(request(t, tr), integration, room.JoinRequest{Session: session, Seller: "a"})
		require.NoError(t, err)
		_, err = e.Leave(t.Context(), integration,
			room.LeaveRequest{Session: session, Outcome: room.Cancelled})
		require.NoError(t, err)
		entries, err := e.ReadJournal(t.Context(), integration, 10)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		done := kept.Ended()
		last := done[len(done)-1]
		require.Equal(t, "room.join", last.Name(), "what is called within no span has none")
		span := last.SpanContext()
		require.Equal(t, "00-"+span.TraceID().String()+"-"+span.SpanID().String()+"-01", entries[0].Trace)
		require.Empty(t, entries[1].Trace)
	})
}

func TestTheJournalHasNothingOfAnUnsampledTrace(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		tr, _ := tracer(sdk.NeverSample())
		e := room.New(rdb, room.Config{Journal: 100, Tracer: tr})
		_, err := e.Join(request(t, tr), integration,
			room.JoinRequest{Session: room.NewSession(), Seller: "a"})
		require.NoError(t, err)
		raw, err := rdb.XRange(t.Context(), room.Names{}.Journal(integration), "-", "+").Result()
		require.NoError(t, err)
		require.Len(t, raw, 1)
		require.NotContains(t, raw[0].Values, "trace")
	})
}

func TestAStoreThatIsAwayIsTheErrorOfASpan(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	tr, kept := tracer(sdk.AlwaysSample())
	e := room.New(rdb, room.Config{Tracer: tr, Address: "127.0.0.1:1"})
	_, err := e.Stand(request(t, tr), integration, room.NewSession())
	require.ErrorIs(t, err, room.ErrStore)
	require.Equal(t, codes.Error, kept.Ended()[0].Status().Code)
	require.Equal(t, err.Error(), kept.Ended()[0].Status().Description, "as the log has it")
}

func TestWithoutATracerACallIsAskedNothingOfItsSpan(t *testing.T) {
	tr, _ := tracer(sdk.AlwaysSample())
	ctx := request(t, tr)
	e := room.New(redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}), room.Config{Journal: 1})
	require.Zero(t, testing.AllocsPerRun(100, func() { require.True(t, room.Untraced(ctx, e)) }))
}
