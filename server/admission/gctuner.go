package admission

import (
	"context"
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

	// crowdHeap is by how many bytes the heap may grow while many sockets open: a quarter of what opening
	// 9,000 sockets allocates. With more, the objects that stay are scattered over more pages.
	crowdHeap = 32 << 20
	liveLeast = 4 << 20 // bytes: the least heap in the collector's reckoning
)

// gcTuner decides when the garbage collector runs.
//
// While many sockets open at once it delays the collector, which would run again and again in a small,
// growing heap and would make busy goroutines help. Afterwards it runs the collector and returns memory to
// the system; by itself the collector would run only when the heap has doubled, or after two minutes.
type gcTuner struct {
	// returns the bytes allocated since the start, and those that the last collection found alive
	read func() (allocated, live uint64)
	free func()
	// GOGC: percent by which the heap grows until the next collection; below 0: there is none
	usual   func() int
	percent func(int) int // sets GOGC, and returns the one before
	before  uint64        // allocated at the last look
	since   uint64        // allocated at the last collection of ours
	calm    int           // looks
	coming  chan struct{}

	mu     sync.Mutex
	late   bool // the next collection is put off
	normal int  // GOGC, when it is not
}

func newGCTuner() *gcTuner {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	return &gcTuner{free: debug.FreeOSMemory, usual: percentNow, percent: debug.SetGCPercent,
		coming: make(chan struct{}, 1), read: func() (uint64, uint64) {
			metrics.Read(samples)
			return samples[0].Value.Uint64(), samples[1].Value.Uint64()
		}}
}

// percentNow returns the current GOGC, as debug.SetGCPercent would.
func percentNow() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(int32(sample[0].Value.Uint64())) // none is the greatest uint64
}

// run tunes until ctx ends, and returns its error.
func (t *gcTuner) run(ctx context.Context) error {
	defer t.asUsual()
	tick := time.NewTicker(tuneEvery)
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

// crowd announces that many sockets are about to open. It does not block.
func (t *gcTuner) crowd() {
	select {
	case t.coming <- struct{}{}:
	default:
	}
}

// putOff delays the next collection until the heap has grown by about crowdHeap, unless it would come later
// anyway. A memory limit (GOMEMLIMIT) still holds.
func (t *gcTuner) putOff() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, live := t.read()
	usual, percent := t.usual(), int(crowdHeap*100/max(live, liveLeast))
	if t.late || usual < 0 || usual >= percent {
		return
	}
	t.late = true
	t.normal = t.percent(percent)
	runtime.AddCleanup(new([32]byte), (*gcTuner).asUsual, t) // after that collection
}

// asUsual undoes putOff.
func (t *gcTuner) asUsual() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		t.percent(t.normal)
		t.late = false
	}
}
