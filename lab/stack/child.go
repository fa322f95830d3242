package stack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const startWithin = 60 * time.Second

// Child is a process of the stack.
type Child struct {
	Name string
	Log  string // a file

	mu      sync.Mutex
	process *testproc.Process // another one when it came back
}

// Pid returns the id of the current process.
func (c *Child) Pid() int { return c.running().Pid() }

// Kill ends the process at once (SIGKILL).
func (c *Child) Kill() { c.running().Kill() }

func (c *Child) running() *testproc.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (c *Child) run(p *testproc.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process = p
}

// Until calls check until it returns nil. Its error has the end of the child's log.
func (c *Child) Until(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.running().Done():
			return fmt.Errorf("%s ended: %s", c.Name, testproc.LogTail(c.Log))
		case <-ctx.Done():
			return fmt.Errorf("%s: %w, %w; %s", c.Name, ctx.Err(), err, testproc.LogTail(c.Log))
		}
	}
}

// Wait waits until the process has ended.
func (c *Child) Wait(ctx context.Context) error {
	select {
	case <-c.running().Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Tail returns the end of its log.
func (c *Child) Tail() string { return testproc.LogTail(c.Log) }

// Pause waits; it returns false if ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
