package sqldb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// probeWithin is the default time for a probe's answer.
const probeWithin = time.Second

// probe checks whether a database answers, on its own time and its own connection: waiting questions may have
// taken all the others. One probe runs at a time, at most every probeEvery.
type probe struct {
	ping   func(context.Context) error
	within time.Duration
	allow  *rate.Limiter

	mu      sync.Mutex
	stop    context.CancelFunc // of the running probe; nil = none
	pending chan error         // has the answer of the ping that runs; nil = none
	closed  bool
	running sync.WaitGroup
	pings   sync.WaitGroup // may outlive their probe
}

// start calls answer with a probe's result, unless a probe runs, ran just now, or probe is closed.
func (p *probe) start(answer func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stop != nil || !p.allow.Allow() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.within)
	p.stop = cancel
	p.running.Go(func() {
		err := p.check(ctx)
		cancel()
		if p.finished() {
			answer(err)
		}
	})
}

// check returns in time even if the system hangs, as it does for a file on a lost disk. While a ping hangs no
// other begins.
func (p *probe) check(ctx context.Context) error {
	select {
	case err := <-p.pinged(ctx):
		return err
	case <-ctx.Done():
		return fmt.Errorf("database does not answer: %w", ctx.Err())
	}
}

// pinged returns where the answer of a ping comes: of the one that runs, or of a new one.
func (p *probe) pinged(ctx context.Context) <-chan error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending != nil {
		return p.pending
	}
	answer := make(chan error, 1)
	p.pending = answer
	p.pings.Go(func() {
		err := p.ping(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pending = nil
		answer <- err
	})
	return answer
}

// ping opens a new connection and queries it.
func (s source) ping(ctx context.Context) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.PingContext(ctx)
}

// aside runs f beside the probe, unless probe is closed.
func (p *probe) aside(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.pings.Go(f)
	}
}

// finished reports whether the result is still wanted.
func (p *probe) finished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = nil
	return !p.closed
}

// close ends the probe and lets no other begin. It returns when no ping has the database's file open, or
// after probeWithin: a hanging system must not keep the program from ending.
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
