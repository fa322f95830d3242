package room_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// BenchmarkJournal reads and trims the entries of ten joins and leaves of a free room.
func BenchmarkJournal(b *testing.B) {
	const pairs = 10
	rdb := redistest.Start(b).Client()
	e := room.New(rdb, room.Config{Journal: 1000})
	for range pairs {
		session := room.NewSession()
		_, err := e.Join(b.Context(), integration,
			room.JoinRequest{Session: session, Seller: "b-" + string(session)[:13]})
		require.NoError(b, err)
		_, err = e.Leave(b.Context(), integration,
			room.LeaveRequest{Session: session, Outcome: room.Completed})
		require.NoError(b, err)
	}
	written, err := rdb.XRange(b.Context(), room.Names{}.Journal(integration), "-", "+").Result()
	require.NoError(b, err)
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		_, err := rdb.Pipelined(b.Context(), func(p redis.Pipeliner) error {
			p.Del(b.Context(), room.Names{}.Journal(integration))
			for _, m := range written {
				p.XAdd(b.Context(),
					&redis.XAddArgs{Stream: room.Names{}.Journal(integration), ID: m.ID, Values: m.Values})
			}
			return nil
		})
		require.NoError(b, err)
		before := processTime(b)
		b.StartTimer()
		entries, err := e.ReadJournal(b.Context(), integration, 500)
		require.NoError(b, err)
		require.Len(b, entries, 2*pairs)
		require.NoError(b, e.TrimJournal(b.Context(), integration, entries))
		used += processTime(b) - before
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(2*pairs*b.N), "cpu-ns/entry")
}

// processTime returns the processor time that this process has used.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
