package redistest

import (
	_ "embed" // the library's source
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed testdata/clock.c
var clockSource []byte

// Clock is a wall clock that servers use in place of the machine's (Config.Clock). It can be set while they
// run.
type Clock struct {
	tb      testing.TB // nil: Put returns errors
	library string
	file    string
}

// NewClock returns a clock that shows the machine's time. It needs a C compiler and a dynamically linked
// redis-server.
func NewClock(tb testing.TB) *Clock {
	tb.Helper()
	c, err := MakeClock(tb.TempDir())
	if err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	c.tb = tb
	return c
}

// MakeClock is NewClock for a program that is no test. Its files stay in dir.
func MakeClock(dir string) (*Clock, error) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return nil, errors.New("no C compiler is installed: run `scripts/setup.sh faults`")
	}
	c := &Clock{library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "offset")}
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-O1", "-o", c.library,
		source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return c, c.Put(0)
}

// Set makes the clock lead the machine's by a duration, or follow it if negative, at once.
func (c *Clock) Set(ahead time.Duration) {
	c.tb.Helper()
	if err := c.Put(ahead); err != nil {
		c.tb.Fatalf("redistest: set the clock: %v", err)
	}
}

// Put is Set for a program that is no test.
func (c *Clock) Put(ahead time.Duration) error {
	file, err := os.OpenFile(c.file, os.O_CREATE|os.O_WRONLY, 0o600) // not made anew: the servers have it mapped
	if err == nil {
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], uint64(ahead.Microseconds()))
		_, err = file.WriteAt(b[:], 0)
		_ = file.Close()
	}
	return err
}

// Env returns the environment variables that give a server this clock.
func (c *Clock) Env() []string { return []string{"LD_PRELOAD=" + c.library, "CLOCK_FILE=" + c.file} }
