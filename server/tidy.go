package server

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	tidyEvery = 2 * time.Second
	calmBelow = 1 << 20 // bytes that are allocated between two looks while it is calm
	calmLooks = 3       // it is calm when it was at so many looks in a row
	tidyAbove = 8 << 20 // bytes that were allocated since the last collection, at the least, for another one to be worth it

	crowdHeap = 64 << 20 // bytes by which the heap may grow while a crowd comes: half of what opening 9,000 sockets allocates. More would leave what stays too far apart
	liveLeast = 4 << 20  // bytes: what the collector takes for the least heap
)

// tidy has the collector run when there is time for it. When it is calm again after many came at once, it gives memory back to the
// system: the collector itself would next look when the heap has doubled, or in two minutes, and what a thousand handshakes left behind
// would stay resident until then. And while a crowd comes, it puts the collection off: in a small heap that grows by the moment it runs again and
// again, and has those help who are in a hurry.
type tidy struct {
	read    func() (allocated, live uint64) // bytes since the start; of what the last collection found alive
	free    func()
	usual   func() int    // by how much of what is alive the heap grows until the next collection, percent; below 0: there is none
	percent func(int) int // sets that, and returns what it was
	before  uint64        // allocated at the last look
	since   uint64        // allocated at the last collection of ours
	calm    int           // looks
	coming  chan struct{}

	mu     sync.Mutex
	late   bool // the next collection is put off
	normal int  // percent, when it is not
}

func newTidy() *tidy {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &tidy{free: debug.FreeOSMemory, usual: percentNow, percent: debug.SetGCPercent, coming: make(chan struct{}, 1), read: func() (uint64, uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}}
}

// percentNow is what debug.SetGCPercent would return.
func percentNow() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(int32(sample[0].Value.Uint64())) // none is the greatest uint64
}

// run looks until ctx ends, and returns its error.
func (t *tidy) run(ctx context.Context) error {
	defer t.asUsual()
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			t.look()
		case <-t.coming:
			t.putOff()
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

// crowd is told that many are about to be let in. It does not wait.
func (t *tidy) crowd() {
	select {
	case t.coming <- struct{}{}:
	default:
	}
}

// putOff has the next collection come when the heap has grown by crowdHeap or a little more, unless it would come later anyway. A memory limit
// (GOMEMLIMIT) is kept all the same.
func (t *tidy) putOff() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, live := t.read()
	usual, percent := t.usual(), int(crowdHeap*100/max(live, liveLeast))
	if t.late || usual < 0 || usual >= percent {
		return
	}
	t.late = true
	t.normal = t.percent(percent)
	runtime.AddCleanup(new([32]byte), (*tidy).asUsual, t) // after that collection
}

// asUsual ends what putOff began.
func (t *tidy) asUsual() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		t.percent(t.normal)
		t.late = false
	}
}
