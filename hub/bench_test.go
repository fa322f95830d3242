package hub_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// crowdSize returns how many sockets a benchmark opens: HUB_BENCH_SOCKETS, or the given default.
func crowdSize(b *testing.B, otherwise int) int {
	text := os.Getenv("HUB_BENCH_SOCKETS")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(b, err)
	return n
}

// queue makes a holder and n waiters.
func queue(b *testing.B, r *replica, n int) (holder string, waiters []string) {
	ids := sessions(n + 1)
	for _, id := range ids {
		join(b, r.Engine, id)
	}
	return ids[0], ids[1:]
}

// BenchmarkIdleSocketMemory prints what one connected waiter costs, its room's mirror included.
func BenchmarkIdleSocketMemory(b *testing.B) {
	n := crowdSize(b, 3000)
	r := start(b, redistest.Start(b).Client(), room.Config{Lease: 10 * time.Minute}, hub.Config{})
	_, waiters := queue(b, r, n)
	for b.Loop() {
		resident, goroutines := settle(b), runtime.NumGoroutine()
		crowd := gather(b, r.URL+"/"+string(lobby), waiters)
		raw := rss(b)
		b.ReportMetric(float64(raw-resident)/1024/float64(n), "KiB/socket-before-GC")
		b.ReportMetric(float64(settle(b)-resident)/1024/float64(n), "KiB/socket")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(n), "goroutines/socket")
		crowd.end()
	}
}

// settle frees unused memory and returns the resident memory in bytes.
func settle(b *testing.B) int64 {
	runtime.GC()
	debug.FreeOSMemory()
	return rss(b)
}

// rss is this process's resident memory in bytes.
func rss(b *testing.B) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(b, err)
	return pages * int64(os.Getpagesize())
}

// BenchmarkHandoffToAnotherReplica prints how long it takes from a release to the next holder's frame,
// with 1,000 waiters connected to another replica than the one that releases.
func BenchmarkHandoffToAnotherReplica(b *testing.B) {
	rdb := redistest.Start(b).Client()
	one, two := start(b, rdb, room.Config{}, hub.Config{}), start(b, rdb, room.Config{}, hub.Config{})
	holder, waiters := queue(b, one, crowdSize(b, 1000))
	one.dial(holder).untilStatus(room.Locked)
	crowd := gather(b, two.URL+"/"+string(lobby), waiters)
	defer crowd.end()
	line := append([]string{holder}, waiters...)
	ticket := int64(1)
	var took []time.Duration
	for b.Loop() {
		released := time.Now().UnixNano()
		leave(b, one.Engine, line[0], room.Completed)
		ticket++
		took = append(took, time.Duration(crowd.until("locked", ticket)-released))
		b.StopTimer()
		if line[0] == holder {
			line = line[1:]
		} else {
			join(b, one.Engine, line[0])
			line = append(line[1:], line[0])
		}
		b.StartTimer()
	}
	report(b, took)
}

// BenchmarkHandoffSentToAll prints how long it takes from a release until the last waiter has its own
// new position.
func BenchmarkHandoffSentToAll(b *testing.B) {
	n := crowdSize(b, 3000)
	r := start(b, redistest.Start(b).Client(), room.Config{}, hub.Config{Coalesce: time.Millisecond})
	holder, waiters := queue(b, r, n)
	crowd := gather(b, r.URL+"/"+string(lobby), waiters)
	defer crowd.end()
	line := append([]string{holder}, waiters...)
	var took []time.Duration
	for b.Loop() {
		released := time.Now().UnixNano()
		st := leave(b, r.Engine, line[0], room.Completed)
		took = append(took, time.Duration(crowd.until("all", st.Version)-released))
		b.StopTimer()
		st = join(b, r.Engine, line[0])
		crowd.until("all", st.Version)
		line = append(line[1:], line[0])
		b.StartTimer()
	}
	report(b, took)
}

// BenchmarkExpiryHandoff prints how long it takes from a lease's expires_at to the next holder's frame. Redis
// has 10,000 other keys with a TTL, which delay its own notifications of expired keys.
func BenchmarkExpiryHandoff(b *testing.B) {
	for name, config := range servers {
		b.Run(name, func(b *testing.B) { benchmarkExpiry(b, redistest.StartWith(b, config).Client()) })
	}
}

func benchmarkExpiry(b *testing.B, rdb *redis.Client) {
	_, err := rdb.Pipelined(b.Context(), func(p redis.Pipeliner) error {
		for i := range 10_000 {
			p.Set(b.Context(), "other:"+strconv.Itoa(i), i, time.Hour)
		}
		return nil
	})
	require.NoError(b, err)
	rules := room.Config{Lease: 50 * time.Millisecond}
	one, two := start(b, rdb, rules, hub.Config{}), start(b, rdb, rules, hub.Config{})
	waiters := sessions(100)
	crowd := gather(b, two.URL+"/"+string(lobby), waiters)
	defer crowd.end()
	var took []time.Duration
	for b.Loop() {
		st := join(b, one.Engine, room.NewSession())
		ends := st.Lease.ExpiresAt
		for _, id := range waiters {
			join(b, one.Engine, id)
		}
		for range waiters {
			next, _ := crowd.next("until")
			_, ns := crowd.next("locked")
			took = append(took, time.Duration(ns-ends*int64(time.Millisecond)))
			ends = next
		}
		testproc.Until(b, within, func() error { // the last one's lease must be over before it joins again
			st, err := one.Engine.Stand(context.Background(), lobby, "")
			if err == nil && st.Lease != nil {
				err = errors.New("still held")
			}
			return err
		})
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}
