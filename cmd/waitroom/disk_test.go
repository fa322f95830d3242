package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// withoutRoom runs the program where no file may become larger than 16 KiB: SQLite then fails as on a full
// disk, when it makes the index of its log. A disk of the test's own would need rights. The limit's signal is
// blocked, since it would end the program.
func withoutRoom(t *testing.T, database string, args ...string) (said string) {
	t.Helper()
	limited := append([]string{"-c", `ulimit -f 16 && exec env --block-signal=XFSZ "$@"`, "bash", program}, args...)
	cmd := exec.CommandContext(t.Context(), "bash", limited...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "WAITROOM_ADDR=127.0.0.1:0", "WAITROOM_DATABASE_URL=sqlite:"+database)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	return string(out)
}

func TestFullDiskIsWhatTheStartAndTheDoctorName(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made.db")
	pool, err := sqldb.Connect("sqlite:" + made)
	require.NoError(t, err)
	_, err = pool.ExecContext(t.Context(), "CREATE TABLE t (n INT)")
	require.NoError(t, err)
	require.NoError(t, pool.Close())
	require.Contains(t, withoutRoom(t, made, "serve"),
		"made.db can not be written: make room on its disk (disk I/O error")
	require.Regexp(t, `WRONG +database +\S+made\.db can not be written: .*\n.*→ Make room on its disk\.`,
		withoutRoom(t, made, "doctor"))
}
