// Package orcatest runs the screen reader Orca in tests, on a display and a desktop session of its own, and
// records all that it says.
package orcatest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/internal/testkit/webdriver"
)

// patience bounds failures alone.
const patience = 2 * time.Minute

// settings keep Orca from reading a whole page by itself when it is loaded.
const settings = `{"general": {"sayAllOnLoad": false, "pageSummaryOnLoad": false, "startingProfile":
	["Default", "default"]}, "pronunciations": {}, "keybindings": {}, "profiles": {"default": {"profile":
	["Default", "default"], "pronunciations": {}, "keybindings": {}}}}`

// Reader is a running Orca.
type Reader struct {
	// Env is the environment of programs that it reads.
	Env   []string
	tb    testing.TB
	voice *voice
}

// Start starts Orca (Debian's orca), which ends with the test.
func Start(tb testing.TB) *Reader {
	tb.Helper()
	dir := short(tb)
	r := &Reader{tb: tb, voice: listen(tb, filepath.Join(dir, "speech-dispatcher", "speechd.sock"))}
	// Without a sound server, a page's own sounds fail alike on every machine.
	r.Env = []string{"PULSE_SERVER=unix:/nonexistent", "ALSA_CONFIG_PATH=/dev/null",
		"DISPLAY=" + webdriver.Display(tb), "LANG=C.UTF-8", "GNOME_ACCESSIBILITY=1",
		"GTK_MODULES=gail:atk-bridge", "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "XDG_CONFIG_HOME=" + dir,
		"XDG_CACHE_HOME=" + dir, "XDG_DATA_HOME=" + dir}
	write(tb, filepath.Join(dir, "orca", "user-settings.conf"), settings, 0o600)
	// Orca does not start where pgrep finds another one of the same user.
	write(tb, filepath.Join(dir, "bin", "pgrep"), "#!/bin/sh\nexit 1\n", 0o700)
	r.Env = append(r.Env, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	r.Env = append(r.Env, "DBUS_SESSION_BUS_ADDRESS="+r.bus(dir))
	r.run(dir, accessibility(tb), "--launch-immediately", "--a11y=1", "--screen-reader=1")
	r.named("org.a11y.Bus") // Orca would start another one otherwise
	r.run(dir, testproc.Find(tb, "orca"))
	r.Says(0, "Screen reader on")
	return r
}

// short returns a directory for sockets, whose paths may have about 100 bytes.
func short(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "orca")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func write(tb testing.TB, path, text string, mode os.FileMode) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		tb.Fatal(err)
	}
}

func listen(tb testing.TB, path string) *voice {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	v := &voice{listener: listener}
	go v.serve()
	return v
}

// bus starts a session bus, and returns its address.
func (r *Reader) bus(dir string) string {
	r.tb.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.tb.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	daemon := exec.Command(testproc.Find(r.tb, "dbus-daemon"), "--session", "--nofork", "--nopidfile",
		"--print-address=3")
	daemon.ExtraFiles = []*os.File{write}
	r.start(dir, daemon)
	_ = write.Close()
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		r.tb.Fatalf("dbus-daemon named no address: %v", err)
	}
	return strings.TrimSpace(address)
}

func accessibility(tb testing.TB) string {
	tb.Helper()
	for _, dir := range []string{"/usr/libexec", "/usr/lib/at-spi2-core"} {
		if path, err := exec.LookPath(filepath.Join(dir, "at-spi-bus-launcher")); err == nil {
			return path
		}
	}
	tb.Fatal("at-spi-bus-launcher is not installed: run `scripts/setup.sh alone`")
	return ""
}

// named waits until a program has a name on the session bus.
func (r *Reader) named(name string) {
	r.tb.Helper()
	testproc.Until(r.tb, patience, func() error {
		ask := exec.Command(testproc.Find(r.tb, "dbus-send"), "--session", "--print-reply=literal",
			"--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:"+name)
		ask.Env = append(os.Environ(), r.Env...)
		out, err := ask.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "true") {
			return fmt.Errorf("nothing has the name %s: %s (%v)", name, out, err)
		}
		return nil
	})
}

func (r *Reader) run(dir, path string, args ...string) {
	r.tb.Helper()
	r.start(dir, exec.Command(path, args...))
}

func (r *Reader) start(dir string, cmd *exec.Cmd) {
	r.tb.Helper()
	cmd.Env, cmd.Dir = append(os.Environ(), r.Env...), dir
	p, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		r.tb.Fatal(err)
	}
	r.tb.Cleanup(func() { p.Stop(syscall.SIGTERM) })
}

// Said returns all texts so far.
func (r *Reader) Said() []Spoken { return r.voice.all() }

// Says waits until a text that was said after the first n contains part, and returns how many were said until
// then.
func (r *Reader) Says(n int, part string) (until int) {
	r.tb.Helper()
	testproc.Until(r.tb, patience, func() error {
		said := r.Said()
		for i, one := range said[n:] {
			if strings.Contains(one.Text, part) {
				until = n + i + 1
				return nil
			}
		}
		return fmt.Errorf("not said by Orca: %q: %v", part, said[n:])
	})
	return until
}

// Press presses a key on the desktop, such as "F6", by the name that X has for it.
func (r *Reader) Press(key string) {
	r.tb.Helper()
	cmd := exec.Command(testproc.Find(r.tb, "xdotool"), "key", key)
	cmd.Env = append(os.Environ(), r.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.tb.Fatalf("xdotool: %v: %s", err, out)
	}
}
