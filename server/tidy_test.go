package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsGivenBackWhenItIsCalmAgainAfterMuchWasUsed(t *testing.T) {
	var allocated, live uint64 = 0, 20 << 20
	freed := 0
	tidy := &tidy{read: func() (uint64, uint64) { return allocated, live }, free: func() { freed++; allocated += 100 << 10 }}
	looks := func(n int, each uint64) int {
		before := freed
		for range n {
			allocated += each
			tidy.look()
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
