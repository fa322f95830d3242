package ledger_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// BenchmarkDrain measures three kinds of journals. One operation of lives is a whole lease: joined, granted,
// matched, ended, and three webhooks. One operation of pairs is a join and an end in a line without webhooks,
// which is what busy rooms write. free is the same for many rooms that are free before and after, drained
// together.
func BenchmarkDrain(b *testing.B) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(b).URL() },
	} {
		b.Run(name+"/lives", func(b *testing.B) { benchmarkDrain(b, url(), true, (*bench).life) })
		b.Run(name+"/pairs", func(b *testing.B) { benchmarkDrain(b, url(), false, (*bench).pair) })
		b.Run(name+"/free", func(b *testing.B) { benchmarkFree(b, url()) })
	}
}

func benchmarkDrain(b *testing.B, url string, webhooks bool, fill func(*bench, int64)) {
	bench := newBench(url)
	c := bench.config()
	c.Webhooks = webhooks
	l := bench.openWith(b, c)
	const chunk = 250
	measure(b, (b.N+chunk-1)/chunk, func(n int) {
		for i := range chunk {
			fill(bench, int64(n*chunk+i+1))
		}
	}, func(int) error { return l.Drain(b.Context(), here) })
}

// pair adds a join to a line of 60 waiters, and the end of its holder's lease.
func (b *bench) pair(ticket int64) {
	b.write(1, joined(ticket+60))
	b.write(1, ended(ticket, room.Completed), granted(ticket+1))
}

const (
	freeRooms = 200
	freePairs = 10 // of one room at a time
)

// benchmarkFree drains free rooms as often as the ledger looks at busy ones.
func benchmarkFree(b *testing.B, url string) {
	bench := newBench(url)
	c := bench.config()
	c.Webhooks = false
	l := bench.openWith(b, c)
	const chunk = ledger.MaxRooms * freePairs
	rooms := make([]room.ID, ledger.MaxRooms)
	measure(b, (b.N+chunk-1)/chunk, func(n int) {
		for i := range chunk {
			rooms[i/freePairs] = room.ID(fmt.Sprint("bench:", (n*ledger.MaxRooms+i/freePairs)%freeRooms))
			bench.free(rooms[i/freePairs], n*chunk+i)
		}
	}, func(int) error { return l.DrainRooms(b.Context(), rooms) })
}

// free adds a lease of a free room's only seller, which ends at once.
func (b *bench) free(id room.ID, n int) {
	b.journal.mu.Lock()
	ticket := b.journal.tickets[id] + 1
	b.journal.tickets[id] = ticket
	b.journal.mu.Unlock()
	at := int64(1763689000000 + n)
	seller, fence := "b-"+uuid.NewString()[:13], at*1000+7
	b.journal.add(id, room.Entry{ID: fmt.Sprintf("%d-0", at), Epoch: 1763688000000, Records: []room.Record{
		{Type: "joined", At: at, Ticket: ticket, Seller: seller},
		{Type: "granted", At: at, Ticket: ticket, Seller: seller, Fence: fence, GrantedAt: at,
			ExpiresAt: at + 120_000}}})
	b.journal.add(id, room.Entry{ID: fmt.Sprintf("%d-1", at+20), Epoch: 1763688000000, Records: []room.Record{
		{Type: "ended", At: at + 20, Ticket: ticket, Seller: seller, Fence: fence, Outcome: room.Completed,
			EndedAt: at + 20}}})
}

// measure reports the drain's cost for each entry, without the cost of filling the journals.
func measure(b *testing.B, times int, fill func(n int), drain func(n int) error) {
	var used time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for n := range times {
		b.StopTimer()
		fill(n)
		before := processTime(b)
		b.StartTimer()
		require.NoError(b, drain(n))
		used += processTime(b) - before
	}
	b.StopTimer()
	b.ReportMetric(float64(used.Nanoseconds())/float64(2*b.N), "cpu-ns/entry")
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "entries/s")
}

// processTime is how long this process has had a processor.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFindInTheLedgerOfAYear times support's search in a ledger of 400,000 places: 40,000 sellers in
// 5,000 rooms, with eight lines each in their timelines.
func BenchmarkFindInTheLedgerOfAYear(b *testing.B) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(b).URL() },
	} {
		b.Run(name, func(b *testing.B) {
			on := newBench(url())
			l := on.openWith(b, on.config())
			_, err := l.DB().Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, seller)
				WITH RECURSIVE lines (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM lines WHERE i < 3199999)
				SELECT 'room:' || (i / 8 % 5000), 1, 'e-' || i, 0, i, 'joined', i / 8, 'seller-' || (i / 8 % 40000)
				FROM lines`)
			require.NoError(b, err)
			for _, text := range []string{"seller-31234", "Seller 3123", "31234", "selelr-31234"} {
				b.Run(text, func(b *testing.B) {
					for b.Loop() {
						found, err := l.FindSellers(b.Context(), text, nil)
						require.NoError(b, err)
						require.NotEmpty(b, found.List)
					}
				})
			}
		})
	}
}
