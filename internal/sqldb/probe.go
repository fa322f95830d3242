package sqldb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// probeWithin is how long a database may take to answer a probe, by default.
const probeWithin = time.Second

// probe asks a database whether it is there, in the background and on a connection of its own. Waiting calls
// may have taken all the others. One runs at a time, at most every probeEvery.
type probe struct {
	ping   func(context.Context) error
	within time.Duration
	allow  *rate.Limiter

	mu      sync.Mutex
	stop    context.CancelFunc // of the running one; nil = none
	closed  bool
	running sync.WaitGroup
	pings   sync.WaitGroup // may go on after their probe was over
}

// start calls answer with a probe's result, unless one runs, or ran just now, or the probe is closed.
func (p *probe) start(answer func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stop != nil || !p.allow.Allow() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.within)
	p.stop = cancel
	p.running.Go(func() {
		err := p.ask(ctx)
		cancel()
		if p.finished() {
			answer(err)
		}
	})
}

// ask returns in time also where the system hangs, as it does for a file on a disk that is gone.
func (p *probe) ask(ctx context.Context) error {
	answer := make(chan error, 1)
	p.pings.Go(func() { answer <- p.ping(ctx) })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("database does not answer: %w", ctx.Err())
	}
}

// ping opens the database anew and asks it for a sign of life.
func (s source) ping(ctx context.Context) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.PingContext(ctx)
}

// finished reports whether the result is still wanted.
func (p *probe) finished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = nil
	return !p.closed
}

// close ends the probe and lets no other begin. It returns when no ping has the database's file open any
// more, or after as long as a probe takes: a system that hangs must not keep the program from ending.
func (p *probe) close() {
	p.mu.Lock()
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
	p.mu.Unlock()
	p.running.Wait()
	ended := make(chan struct{})
	go func() {
		p.pings.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(p.within):
	}
}
