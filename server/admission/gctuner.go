package admission

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	tuneEvery = 2 * time.Second
	calmBelow = 1 << 20 // bytes that are allocated between two looks while it is calm
	calmLooks = 3       // it is calm when it was at so many looks in a row
	// least bytes allocated since the last collection that make another one worth it
	freeAbove = 8 << 20

	// leastGrowth is by how many bytes the heap may grow at least between two collections: a quarter of what
	// opening 9,000 sockets allocates. With more, the objects that stay are scattered over more pages.
	leastGrowth  = 32 << 20
	liveLeast    = 4 << 20 // bytes: the least heap in the collector's reckoning
	usualPercent = 100     // GOGC, as Go has it
)

// gcTuner decides when the garbage collector runs.
//
// In a small heap the collector would run again and again while many sockets open or requests come, and make
// busy goroutines help. So the heap may always grow by leastGrowth. When it is calm again, gcTuner runs the
// collector and returns memory to the system; by itself the collector would wait for that growth, or for two
// minutes. A GOGC of the environment holds as it is.
type gcTuner struct {
	// returns the bytes allocated since the start, and those that the last collection found alive
	read func() (allocated, live uint64)
	free func()
	// sets GOGC, the percent by which the heap grows until the next collection, and returns the one before
	percent func(int) int
	before  uint64 // allocated at the last look
	since   uint64 // allocated at the last collection of ours
	calm    int    // looks

	mu    sync.Mutex
	ended bool
}

func newGCTuner() *gcTuner {
	return &gcTuner{free: debug.FreeOSMemory, percent: debug.SetGCPercent, read: func() (uint64, uint64) {
		samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}}
}

// run tunes until ctx ends, and returns its error.
func (t *gcTuner) run(ctx context.Context) error {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		usual := t.percent(usualPercent)
		t.let()
		defer t.end(usual)
	}
	tick := time.NewTicker(tuneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			t.look()
		}
	}
}

// let sets GOGC so that the heap may grow by leastGrowth, now and after each collection. A memory limit
// (GOMEMLIMIT) still holds.
func (t *gcTuner) let() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	_, live := t.read()
	t.percent(max(usualPercent, int(leastGrowth*100/max(live, liveLeast))))
	runtime.AddCleanup(new([32]byte), (*gcTuner).let, t) // after the next collection
}

// end sets GOGC for good.
func (t *gcTuner) end(usual int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.percent(usual)
}

func (t *gcTuner) look() {
	allocated, live := t.read()
	if allocated-t.before < calmBelow {
		t.calm++
	} else {
		t.calm = 0
	}
	t.before = allocated
	if t.calm < calmLooks || allocated-t.since < max(freeAbove, live/10) {
		return
	}
	t.free()
	t.since, _ = t.read()
	t.before = t.since
}
