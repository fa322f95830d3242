package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// onSmallDisk runs a shell's script with the program as $0 and a disk of 2 MiB as $1, which no other process
// sees.
func onSmallDisk(t *testing.T, script string) (said string) {
	t.Helper()
	mount := []string{"unshare", "--map-root-user", "--mount", "bash", "-c",
		`mount -t tmpfs -o size=2m tmpfs "$1" && cd "$1" && ` + script, program, t.TempDir()}
	if runtime.GOOS != "linux" || exec.Command(mount[0], mount[1], mount[2], "true").Run() != nil {
		t.Skip("no mount of its own can be made here")
	}
	cmd := exec.CommandContext(t.Context(), mount[0], mount[1:]...)
	cmd.Dir = t.TempDir()
	out, _ := cmd.CombinedOutput()
	return string(out)
}

const (
	onDisk = `export WAITROOM_ADDR=127.0.0.1:0 WAITROOM_DATABASE_URL=sqlite:$PWD/w.db; `
	filled = `dd if=/dev/zero of=rest bs=1k 2>&1 | grep -o "No space left on device"; `
)

func TestFullDiskIsWhatTheStartAndTheDoctorName(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made.db")
	pool, err := sqldb.Connect("sqlite:" + made)
	require.NoError(t, err)
	_, err = pool.ExecContext(t.Context(), "CREATE TABLE t (n INT)")
	require.NoError(t, err)
	require.NoError(t, pool.Close())
	said := onSmallDisk(t, "cp "+made+" w.db && "+onDisk+filled+`"$0" serve; "$0" doctor`)
	require.Contains(t, said, "w.db can not be written: make room on its disk (disk I/O error")
	require.Regexp(t, `WRONG +database +\S+ can not be written: .*\n.*→ Make room on its disk\.`, said)
}

// SQLite writes its log where the file is, not where the link is.
func TestFullDiskBehindALinkIsNamed(t *testing.T) {
	t.Parallel()
	said := onSmallDisk(t, onDisk+filled+`
		links=$(mktemp -d) && ln -s "$PWD/w.db" "$links/w.db" &&
		WAITROOM_DATABASE_URL=sqlite:$links/w.db "$0" doctor; rm -r "$links"`)
	require.Regexp(t, `WRONG +database +\S+ can not be written: .*\n.*→ Make room on its disk\.`, said)
}
