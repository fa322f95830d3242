package doctor

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctorSaysThatTheLedgersDiskIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	d := &doctor{}
	d.unwritten("/data", fill(full))
	require.Equal(t, []Finding{{"database", Wrong, "/data can not be written: write /dev/full: no space left on device.",
		"Make room on its disk."}}, d.findings)
}

// Root can write to a full disk, as far as the file system keeps a part for it.
func TestRoomForRootAloneIsNone(t *testing.T) {
	require.ErrorIs(t, roomFor(leastRoom-1), syscall.ENOSPC)
	for _, free := range []int64{leastRoom, -1} {
		require.NoError(t, roomFor(free))
	}
	require.NotZero(t, freeOn(t.TempDir()))
	require.EqualValues(t, -1, freeOn(t.TempDir()+"/nothere"))
}
