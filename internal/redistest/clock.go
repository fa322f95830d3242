package redistest

import (
	_ "embed" // the library's source
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed testdata/clock.c
var clockSource []byte

// Clock is a wall clock that servers can be given instead of the machine's (Config.Clock), to be set while they run.
type Clock struct {
	tb      testing.TB
	library string
	file    string
}

// NewClock makes a clock that is right. It needs a C compiler and a dynamically linked redis-server.
func NewClock(tb testing.TB) *Clock {
	tb.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		tb.Fatal("no C compiler is installed: run `scripts/setup.sh faults`")
	}
	dir := tb.TempDir()
	c := &Clock{tb: tb, library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "offset")}
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-O1", "-o", c.library, source).CombinedOutput(); err != nil {
		tb.Fatalf("redistest: %v\n%s", err, out)
	}
	c.Set(0)
	return c
}

// Set puts the clock ahead of the machine's, or (negative) behind it, at once.
func (c *Clock) Set(ahead time.Duration) {
	c.tb.Helper()
	file, err := os.OpenFile(c.file, os.O_CREATE|os.O_WRONLY, 0o600) // not made anew: the servers have it mapped
	if err == nil {
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], uint64(ahead.Microseconds()))
		_, err = file.WriteAt(b[:], 0)
		_ = file.Close()
	}
	if err != nil {
		c.tb.Fatalf("redistest: set the clock: %v", err)
	}
}

func (c *Clock) env() []string { return []string{"LD_PRELOAD=" + c.library, "CLOCK_FILE=" + c.file} }
