package admission

import (
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsGivenBackWhenItIsCalmAgainAfterMuchWasUsed(t *testing.T) {
	var allocated, live uint64 = 0, 20 << 20
	freed := 0
	tuner := &gcTuner{read: func() (uint64, uint64) { return allocated, live },
		free: func() { freed++; allocated += 100 << 10 }}
	looks := func(n int, each uint64) int {
		before := freed
		for range n {
			allocated += each
			tuner.look()
		}
		return freed - before
	}
	require.Zero(t, looks(100, 2<<20), "as long as it is busy the collector does it")
	require.Equal(t, 1, looks(10, 1<<10), "once it is calm")
	require.Zero(t, looks(100, 1<<10), "and not again for next to nothing")
	require.Zero(t, looks(20, 3<<20))
	live = 1 << 30
	require.Zero(t, looks(10, 1<<10), "beside a large heap that is not worth it")
}

// gogc returns the GOGC that holds now: percent by which the heap grows.
func gogc() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestSmallHeapMayGrowByTheLeastAndALargeOneDoubles(t *testing.T) {
	t.Setenv("GOGC", "") // restores it
	require.NoError(t, os.Unsetenv("GOGC"))
	usual := gogc()
	var live atomic.Uint64
	tuner := newGCTuner()
	tuner.read = func() (uint64, uint64) { return 0, live.Load() }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- tuner.run(ctx) }()
	for _, c := range []struct {
		live uint64
		gogc int
	}{{1 << 20, 800}, {16 << 20, 200}, {1 << 30, 100}, {8 << 20, 400}} {
		live.Store(c.live)
		require.Eventually(t, func() bool {
			runtime.GC()
			return gogc() == c.gogc
		}, 10*time.Second, time.Millisecond, "after a collection that leaves %d MiB", c.live>>20)
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	runtime.GC()
	runtime.GC()
	require.Equal(t, usual, gogc())
}

func TestGOGCOfTheEnvironmentHolds(t *testing.T) {
	t.Setenv("GOGC", "50")
	tuner := newGCTuner()
	tuner.percent = func(percent int) int {
		t.Errorf("%d is set", percent)
		return 50
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, tuner.run(ctx), context.Canceled)
}
