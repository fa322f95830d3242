package doctor

import (
	"os"
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
