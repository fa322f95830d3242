package doctor

import (
	"os"
	"path/filepath"
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

// SQLite writes its log where the file is, not where the link is. Root may write everywhere but in /proc.
func TestDoctorTriesTheDirectoryThatALinkLeadsTo(t *testing.T) {
	link := filepath.Join(t.TempDir(), "w.db")
	require.NoError(t, os.Symlink("/proc/w.db", link))
	d := &doctor{}
	d.sqlite(t.Context(), link)
	require.Len(t, d.findings, 1)
	require.Contains(t, d.findings[0].Text, "/proc can not be written")
}
