package room_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// tracer makes a span for each call, and remembers what it had when it ended.
type tracer struct {
	verbs []string
	ended []room.Called
}

type spanKey struct{}

func (tr *tracer) Start(ctx context.Context, verb string) (context.Context, func(room.Called)) {
	tr.verbs = append(tr.verbs, verb)
	return context.WithValue(ctx, spanKey{}, "span of "+verb), func(c room.Called) { tr.ended = append(tr.ended, c) }
}

func (tr *tracer) Traceparent(ctx context.Context) string {
	span, _ := ctx.Value(spanKey{}).(string)
	return span
}

// unsampled is a tracer that records nothing.
type unsampled struct{}

func (unsampled) Start(ctx context.Context, _ string) (context.Context, func(room.Called)) {
	return ctx, nil
}
func (unsampled) Traceparent(context.Context) string { return "" }

func TestTheJournalNamesTheSpanOfTheScriptThatWroteIt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		tr := &tracer{}
		e := room.New(rdb, room.Config{Journal: 100, Tracer: tr, Address: "redis:6379"})
		session := room.NewSession()
		_, err := e.Join(t.Context(), integration, room.JoinRequest{Session: session, Seller: "a"})
		require.NoError(t, err)
		_, err = e.Leave(t.Context(), integration, room.LeaveRequest{Session: session, Fence: 7})
		require.ErrorIs(t, err, room.ErrStaleFence)
		entries, err := e.ReadJournal(t.Context(), integration, 10)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, "span of join", entries[0].Trace)
		require.Len(t, tr.ended, len(tr.verbs), "each span ends")
		var joined, left room.Called
		for n, verb := range tr.verbs {
			switch verb {
			case "join":
				joined = tr.ended[n]
			case "leave":
				left = tr.ended[n]
			}
		}
		require.Contains(t, []string{"FCALL", "EVALSHA"}, joined.Command)
		require.Equal(t, room.Called{Room: integration, Command: joined.Command, Address: "redis:6379", Result: "ok"},
			joined)
		require.Equal(t, "stale_fence", left.Result)
	})
}

func TestTheJournalHasNothingOfAnUnsampledTrace(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100, Tracer: unsampled{}})
		_, err := e.Join(t.Context(), integration, room.JoinRequest{Session: room.NewSession(), Seller: "a"})
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
	tr := &tracer{}
	_, err := room.New(rdb, room.Config{Tracer: tr}).Stand(t.Context(), integration, room.NewSession())
	require.ErrorIs(t, err, room.ErrStore)
	require.Equal(t, err, tr.ended[0].Err, "as the log has it")
	require.Empty(t, tr.ended[0].Result)
}
