package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	othersEvery = 20 * time.Millisecond
	othersRoom  = "bench:others"
	othersArg   = "others" // what makes this program be them
)

// others are people who join another room during a measurement. They are a process of their own: in this one
// they would wait behind thousands of reconnecting clients, and the time would be the client's.
type others struct {
	process *testproc.Process
	end     io.Closer
	took    chan sample
}

// startOthers lets them join at one replica until stop.
func (b *bench) startOthers(addr string) (*others, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, othersArg, addr)
	cmd.Stderr = os.Stderr
	end, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o := &others{end: end, took: make(chan sample, 1)}
	if o.process, err = testproc.Start(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	go func() { o.took <- readSample(out) }()
	return o, nil
}

// stop ends the process and returns how long each join took, in ms.
func (o *others) stop() sample {
	_ = o.end.Close()
	took := <-o.took
	<-o.process.Done()
	return took
}

func readSample(r io.Reader) (s sample) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if v, err := strconv.ParseFloat(lines.Text(), 64); err == nil {
			s = append(s, v)
		}
	}
	return s
}

// beOthers is the main function of that process. It starts a join every othersEvery, even if the previous one
// is not finished, until `in` ends. It prints the ms of each; a failed join counts as requestWithin.
func beOthers(addr string, in io.Reader, out io.Writer) {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, in)
	}()
	var mu sync.Mutex
	var all sync.WaitGroup
	for due := time.Now(); stack.Pause(ctx, time.Until(due)); due = due.Add(othersEvery) {
		all.Go(func() {
			spent := joinAnew(addr, due)
			mu.Lock()
			defer mu.Unlock()
			_, _ = fmt.Fprintln(out, ms(spent))
		})
	}
	all.Wait()
}

// joinAnew joins over a new connection.
func joinAnew(addr string, due time.Time) time.Duration {
	c, err := dial(addr)
	if err != nil {
		return requestWithin
	}
	defer func() { _ = c.Close() }()
	if _, err := c.join(othersRoom, newPerson()); err != nil {
		return requestWithin
	}
	return time.Since(due)
}
