// Package testproc runs the servers that tests talk to, as children that never outlive the test binary.
package testproc

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// stopGrace is how long Stop waits for the child to end by itself before it kills it.
const stopGrace = 10 * time.Second

// Process is a running child. The caller that started it calls Kill or Stop; both wait until it has ended.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs cmd so that it is also gone when the test binary dies (on Linux, where the kernel can promise
// that). onDeath is the signal the child then gets.
func Start(cmd *exec.Cmd, onDeath syscall.Signal) (*Process, error) {
	dieWithParent(cmd, onDeath)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// run keeps its thread for the child's whole life: the kernel sends the death signal when the thread that
// started the child ends, not when the process does.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // how it ended does not matter to a test that ends it
	}
	close(p.done)
}

// Pid returns the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the child is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends sig; to a child that is gone it does nothing.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// Kill ends the child at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Stop sends sig, waits for the child, and kills it if it does not end.
func (p *Process) Stop(sig syscall.Signal) {
	p.Signal(sig)
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		p.Kill()
	}
}

// Find returns the path of a program, or fails the test with the way to install it.
func Find(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Fatalf("%s is not installed: run `make setup`", names[0])
	return ""
}

// Until calls check until it returns nil. It fails the test if that takes longer than within.
func Until(tb testing.TB, within time.Duration, check func() error) {
	tb.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("still not so after %s: %v", within, err)
		}
	}
}

// LogTail returns the end of a child's log, for a failure message.
func LogTail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return strconv.Itoa(len(text)) + " bytes of " + path + ":\n" + string(text)
}
