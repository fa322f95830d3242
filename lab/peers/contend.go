package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	replicas = 4                      // processes the contenders stand for: each has its own client
	warmUp   = 300 * time.Millisecond // connections and scripts
	clearly  = 20 * time.Millisecond  // who asked this much earlier asked earlier, however long requests take
)

// result is what one cell of the table measured.
type result struct {
	library          string
	contenders       int
	work             time.Duration
	grants, handoffs int // a handoff is a grant to another contender than the one before
	took             time.Duration
	commands         int64
	overtaking       int             // grants to one while another that asked clearly earlier waited
	longest          time.Duration   // the longest wait, of those who still waited at the end too
	wakes            []time.Duration // release asked -> the next one, who waited by then, has it
}

// track records every grant and release in their order; only the holder writes to it.
type track struct {
	mu       sync.Mutex
	on       bool
	asked    []time.Time // since when a contender waits; zero = it does not
	last     int         // who had the lock last
	released time.Time   // when it asked to release
	inside   atomic.Int32
	r        result
}

// contend makes n contenders take, use and release one lock again and again for a while.
func contend(ctx context.Context, lib library, addr string, n int, work, length time.Duration) (result,
	error) {
	count := &commands{}
	sides := make([]replica, min(replicas, n))
	for i := range sides {
		var err error
		if sides[i], err = lib.open(addr, count); err != nil {
			return result{}, fmt.Errorf("%s: %w", lib.name, err)
		}
		defer sides[i].close()
	}
	t := &track{asked: make([]time.Time, n), last: -1, r: result{library: lib.name, contenders: n, work: work}}
	key := fmt.Sprintf("%d", time.Now().UnixNano())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { t.loop(ctx, i, sides[i%len(sides)], key, work) })
	}
	// wait until all contenders are in line and the first round is over
	stack.Pause(ctx, warmUp+time.Duration(n)*2*time.Millisecond)
	t.start()
	begun, sent := time.Now(), count.sent.Load()
	stack.Pause(ctx, length)
	t.finish()
	t.r.took, t.r.commands = time.Since(begun), count.sent.Load()-sent
	failed := ctx.Err()
	stop()
	all.Wait()
	return t.r, failed
}

func (t *track) loop(ctx context.Context, me int, side replica, key string, work time.Duration) {
	for ctx.Err() == nil {
		t.asks(me)
		mine, err := side.take(ctx, key)
		if err != nil {
			continue // the end; or the library's own trouble, which costs it
		}
		t.has(me)
		if work > 0 {
			time.Sleep(work)
		}
		t.releases()
		mine.release()
	}
}

func (t *track) asks(me int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[me] = time.Now()
}

func (t *track) has(me int) {
	now := time.Now()
	if t.inside.Add(1) != 1 {
		panic(t.r.library + ": two at a time")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	asked := t.asked[me]
	t.asked[me] = time.Time{}
	if t.on {
		t.r.grants++
		t.r.longest = max(t.r.longest, now.Sub(asked))
		if t.last != me {
			t.r.handoffs++
			if asked.Before(t.released) {
				t.r.wakes = append(t.r.wakes, now.Sub(t.released))
			}
		}
		if slices.ContainsFunc(t.asked, func(other time.Time) bool {
			return !other.IsZero() &&
				asked.Sub(other) > clearly
		}) {
			t.r.overtaking++
		}
	}
	t.last = me
}

func (t *track) releases() {
	t.mu.Lock()
	t.released = time.Now()
	t.mu.Unlock()
	t.inside.Add(-1)
}

func (t *track) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on = true
}

func (t *track) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on = false
	for _, asked := range t.asked {
		if !asked.IsZero() {
			t.r.longest = max(t.r.longest, time.Since(asked))
		}
	}
}
