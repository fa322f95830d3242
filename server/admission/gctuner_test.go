package admission

import (
	"runtime"
	"runtime/debug"
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

func TestCollectionIsPutOffOnceForACrowd(t *testing.T) {
	usual := percentNow()
	tuner := newGCTuner()
	tuner.read = func() (uint64, uint64) { return 0, 16 << 20 }
	tuner.putOff()
	t.Cleanup(tuner.asUsual)
	require.Equal(t, 100*crowdHeap>>20/16, percentNow())
	tuner.putOff()
	require.Equal(t, 100*crowdHeap>>20/16, percentNow())
	require.Eventually(t, func() bool {
		runtime.GC()
		return percentNow() == usual
	}, 10*time.Second, time.Millisecond, "after the next collection it is as it was")
	tuner.putOff()
	require.NotEqual(t, usual, percentNow(), "and the next crowd has another one put off")
}

func TestCollectionIsNeverBroughtForward(t *testing.T) {
	for name, usual := range map[string]int{"never": -1, "late": 2000} {
		t.Run(name, func(t *testing.T) {
			tuner := newGCTuner()
			tuner.read = func() (uint64, uint64) { return 0, 64 << 20 }
			tuner.usual = func() int { return usual }
			tuner.percent = func(percent int) int {
				t.Errorf("%d is set, for a moment at least", percent)
				return usual
			}
			tuner.putOff()
			tuner.asUsual()
		})
	}
}

func TestCollectorThatIsOffIsKnownToBe(t *testing.T) {
	was := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(was)
	require.Negative(t, percentNow())
}
