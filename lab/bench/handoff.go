package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	benchRoom    = "bench"
	handoffs     = 250
	handoffPause = 260 * time.Millisecond // all that may be coalesced has been sent
	frameWithin  = 10 * time.Second
)

// grant is a frame that gives a seller the lock.
type grant struct {
	n  int
	at time.Time
	s  crowd.State
}

// handoff measures handoffs whose release is sent to one replica while the sockets are on another.
func (b *bench) handoff(ctx context.Context) error {
	s, err := b.open(ctx, layout{replicas: 2})
	if err != nil {
		return err
	}
	defer s.Stop()
	all, err := s.people(ctx, s.replicas[0], b.n(1000)+1, one(benchRoom))
	if err != nil {
		return err
	}
	grants := make(chan grant, 64)
	a := newAudience(ctx, seats(s.replicas[1].URL(), one(benchRoom), all))
	defer a.close()

	a.heard = func(n int, s crowd.State, at time.Time) {
		if s.Status == "locked" {
			grants <- grant{n, at, s}
		}
	}
	if err := a.grow(ctx, len(all)); err != nil {
		return err
	}
	if _, err := a.until(ctx, 1); err != nil {
		return err
	}
	r, err := b.startRelay(ctx, s)
	if err != nil {
		return err
	}
	defer r.close()
	c, err := dial(s.replicas[0].Addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	holder := slices.IndexFunc(all, func(p person) bool { return p.place.Status == "locked" })
	if holder < 0 {
		return errors.New("no seller holds the lock")
	}
	fence := all[holder].place.Fence
	var took, relayed sample
	for i := range b.n(handoffs) {
		if !stack.Pause(ctx, handoffPause/2) {
			return ctx.Err()
		}
		alone, err := r.once(i)
		if err != nil {
			return err
		}
		relayed = append(relayed, ms(alone))
		if !stack.Pause(ctx, handoffPause/2) {
			return ctx.Err()
		}
		released := time.Now()
		if _, err := c.done(benchRoom, all[holder]); err != nil {
			return err
		}
		g, err := next(ctx, grants, fence)
		if err != nil {
			return err
		}
		took = append(took, ms(g.at.Sub(released)))
		if _, err := c.join(benchRoom, all[holder]); err != nil {
			return err
		}
		holder, fence = g.n, g.s.Fence
	}
	b.add(row{what: "release → next holder's frame, on another replica, 1,000 connected waiters",
		bar: "p50 ≤ 2 × the floor of the same run, p99 ≤ 5 × the floor's p50 + 2 ms",
		checks: []check{{"p50", took.median(), " ms", 2 * relayed.median(), false},
			{"p99", took.at(.99), " ms", 5*relayed.median() + 2, false}},
		how: fmt.Sprintf("%d handoffs; from the first byte of the holder's DELETE until the next holder's "+
			"frame was read (one HTTP request included); %s. "+
			"In turn with them the floor: the same way with nothing to decide and nobody else to tell (an HTTP "+
			"handler that "+
			"publishes, another process that writes to one socket what it hears): "+
			"p50 %s ms, p99 %s ms.", len(took), took.spread(" ms"), number(relayed.median()),
			number(relayed.at(.99)))})
	return nil
}

// next returns the first grant with a higher fence.
func next(ctx context.Context, grants <-chan grant, fence int64) (grant, error) {
	late := time.NewTimer(frameWithin)
	defer late.Stop()
	for {
		select {
		case g := <-grants:
			if g.s.Fence > fence {
				return g, nil
			}
		case <-late.C:
			return grant{}, fmt.Errorf("no seller got the lock's frame within %s", frameWithin)
		case <-ctx.Done():
			return grant{}, ctx.Err()
		}
	}
}
