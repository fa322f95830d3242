package ledger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// Spans of scripts.
const (
	firstCall  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	secondCall = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

// traced journals records of a verb that was called within a span.
func (b *bench) traced(parent string, records ...room.Record) {
	b.write(1, records...)
	b.journal.mu.Lock()
	defer b.journal.mu.Unlock()
	list := b.journal.entries[here]
	list[len(list)-1].Trace = parent
}

// parents returns the traceparents of tasks, by event.
func parents(t *testing.T, l *ledger.Ledger) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, row := range column(t, l.DB(), `SELECT traceparent || '|' || payload FROM outbox_tasks ORDER BY id`) {
		var event struct{ Type string }
		parent, payload, _ := strings.Cut(row, "|")
		require.NoError(t, json.Unmarshal([]byte(payload), &event))
		found[event.Type] = parent
	}
	return found
}

func TestATaskGoesOnInTheTraceOfTheCallThatItFollowsFrom(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		kept := tracetest.NewSpanRecorder()
		c := b.config()
		c.Tracer = sdk.NewTracerProvider(sdk.WithSpanProcessor(kept)).Tracer("test")
		l := b.openWith(t, c)
		b.traced(firstCall, joined(1), granted(1))
		b.traced(secondCall, matched("m-1", 1), ended(1, room.Completed))
		b.write(1, joined(2), granted(2))
		require.NoError(t, l.Drain(t.Context(), here))
		spans := kept.Ended()
		require.Len(t, spans, 2, "an entry that is part of no trace has no span")
		for i, call := range []string{firstCall, secondCall} {
			require.Equal(t, call[3:35], spans[i].SpanContext().TraceID().String())
			require.Equal(t, call[36:52], spans[i].Parent().SpanID().String())
		}
		found := parents(t, l)
		for kind, i := range map[string]int{"sms.matched": 1, "lock.ended": 1} {
			c := spans[i].SpanContext()
			require.Equal(t, "00-"+c.TraceID().String()+"-"+c.SpanID().String()+"-01", found[kind], kind)
		}
		require.Empty(t, found["lock.granted"], "that of the last lease, whose call was not traced")
	})
}

func TestAReplicaThatDoesNotTracePassesOnWhatOthersTraced(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.traced(firstCall, joined(1), granted(1))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, firstCall, parents(t, l)["lock.granted"])
	})
}

func TestAnEntryWithATraceThatIsNoneIsTakenInAllTheSame(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for n, odd := range []string{"nonsense", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
			string(make([]byte, 300))} {
			b.traced(odd, joined(int64(n+1)), granted(int64(n+1)))
		}
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 3, count(t, l, "outbox_tasks WHERE traceparent = ''"))
		require.NotContains(t, b.log.String(), "parked")
	})
}

// A database that was migrated through all versions has the same outbox table as a new one.
func TestTheOutboxsTableIsAsItsPackageMakesIt(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		columns, dialect := `SELECT name || ' ' || type || ' ' || "notnull" || ' ' || COALESCE(dflt_value, '-')
			FROM pragma_table_info('outbox_tasks') ORDER BY name`, outbox.SQLite
		if l.Dialect() == outbox.Postgres {
			columns, dialect = `SELECT column_name || ' ' || data_type || ' ' || is_nullable || ' ' ||
				COALESCE(column_default, '-') FROM information_schema.columns
				WHERE table_name = 'outbox_tasks' ORDER BY column_name`, outbox.Postgres
		}
		migrated := column(t, l.DB(), columns)
		_, err := l.DB().Exec(`DROP TABLE outbox_tasks`)
		require.NoError(t, err)
		_, err = l.DB().Exec(outbox.Schema(dialect))
		require.NoError(t, err)
		require.Equal(t, column(t, l.DB(), columns), migrated)
	})
}
