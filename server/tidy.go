package server

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	tidyEvery = 2 * time.Second
	calmBelow = 1 << 20 // bytes that are allocated between two looks while it is calm
	calmLooks = 3       // it is calm when it was at so many looks in a row
	tidyAbove = 8 << 20 // bytes that were allocated since the last collection, at the least, for another one to be worth it
)

// tidy gives memory back to the system when it is calm again after many came at once. The collector itself would next look when the heap has doubled, or in two
// minutes, and what a thousand handshakes left behind would stay resident until then.
type tidy struct {
	read   func() (allocated, live uint64) // bytes since the start; of what the last collection found alive
	free   func()
	before uint64 // allocated at the last look
	since  uint64 // allocated at the last collection of ours
	calm   int    // looks
}

func newTidy() *tidy {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &tidy{free: debug.FreeOSMemory, read: func() (uint64, uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}}
}

// run looks until ctx ends, and returns its error.
func (t *tidy) run(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
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

func (t *tidy) look() {
	allocated, live := t.read()
	if allocated-t.before < calmBelow {
		t.calm++
	} else {
		t.calm = 0
	}
	t.before = allocated
	if t.calm < calmLooks || allocated-t.since < max(tidyAbove, live/10) {
		return
	}
	t.free()
	t.since, _ = t.read()
	t.before = t.since
}
