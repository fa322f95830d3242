package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	loadRooms   = 200
	loadSellers = 3
	loadSpan    = 5 * time.Second
	loadLate    = 2 * time.Second        // for what is under way at the end
	loadSlack   = 100 * time.Millisecond // a handoff's own time
)

var loadRates = []int{25, 50, 100, 200, 400, 800, 1600}

// latencies are the handoff times at one rate.
type latencies struct {
	rate     float64 // handoffs a second that came about
	took     sample
	overload bool // no room was free when one was due
}

// latency plots the handoff's duration against the number of handoffs a second.
func (b *bench) latency(ctx context.Context) error {
	s, err := b.open(ctx, layout{replicas: 2})
	if err != nil {
		return err
	}
	defer s.Stop()
	l, err := newLoad(ctx, s, b.n(loadRooms))
	if err != nil {
		return err
	}
	defer l.a.close()
	var points []latencies
	for _, rate := range loadRates {
		p, err := l.run(ctx, rate, b.span(loadSpan))
		if err != nil {
			return err
		}
		log.Printf("  %.0f handoffs/s of %d wanted: p50 %s ms, p99 %s ms", p.rate, rate, number(p.took.median()),
			number(p.took.at(.99)))
		points = append(points, p)
		if p.overload {
			break
		}
		if err := s.drained(ctx); err != nil {
			return err
		}
	}
	b.plotLatency(points)
	return nil
}

// load is a set of rooms in which each holder leaves and joins again.
type load struct {
	s      *site
	a      *audience
	people []person
	rooms  int
	free   chan int     // rooms whose holder may be done
	work   chan int     // rooms whose holder is to be
	grants []chan grant // by room
	holder []int
	fence  []int64
}

func newLoad(ctx context.Context, s *site, rooms int) (l *load, err error) {
	l = &load{s: s, rooms: rooms, free: make(chan int, rooms), work: make(chan int), holder: make([]int, rooms),
		fence: make([]int64, rooms)}
	for range rooms {
		l.grants = append(l.grants, make(chan grant, 8))
	}
	if l.people, err = s.people(ctx, s.replicas[0], rooms*loadSellers, l.room); err != nil {
		return nil, err
	}
	for i, p := range l.people {
		if p.place.Status == "locked" {
			l.holder[i%rooms], l.fence[i%rooms] = i, p.place.Fence
		}
	}
	l.a = newAudience(ctx, seats(s.replicas[1].URL(), l.room, l.people))
	l.a.heard = func(n int, st crowd.State, at time.Time) {
		if st.Status == "locked" {
			select {
			case l.grants[n%rooms] <- grant{n, at, st}:
			default: // a repeat
			}
		}
	}
	if err := l.a.grow(ctx, len(l.people)); err != nil {
		l.a.close()
		return nil, err
	}
	for r := range rooms {
		l.free <- r
	}
	return l, nil
}

func (l *load) room(i int) string { return fmt.Sprint("bench:", i%l.rooms) }

// run starts a fixed number of handoffs a second, however long each takes.
func (l *load) run(ctx context.Context, rate int, span time.Duration) (p latencies, err error) {
	var mu sync.Mutex
	l.work = make(chan int)
	workers, ctx := errgroup.WithContext(ctx)
	for w := range pairClients {
		workers.Go(func() error {
			c, err := dial(l.s.replicas[w%len(l.s.replicas)].Addr)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			for r := range l.work {
				took, err := l.handoff(ctx, c, r)
				if err != nil {
					return err
				}
				mu.Lock()
				p.took = append(p.took, took)
				mu.Unlock()
			}
			return nil
		})
	}
	began := time.Now()
	p.overload = !l.schedule(ctx, began, rate, span)
	close(l.work)
	err = workers.Wait()
	took := time.Since(began)
	p.overload = p.overload || took > span+span/10+loadSlack
	p.rate = float64(len(p.took)) / took.Seconds()
	return p, err
}

// schedule starts the handoffs at the rate. It returns false if ctx ended, or no room or worker was free even
// loadLate after the span.
func (l *load) schedule(ctx context.Context, began time.Time, rate int, span time.Duration) bool {
	for n := 0; ; n++ {
		after := time.Duration(n) * time.Second / time.Duration(rate)
		if after >= span {
			return true
		}
		if !stack.Pause(ctx, time.Until(began.Add(after))) || !l.due(ctx, began.Add(span+loadLate)) {
			return false
		}
	}
}

// due gives the next free room to a free worker, until a deadline.
func (l *load) due(ctx context.Context, by time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	select {
	case r := <-l.free:
		select {
		case l.work <- r:
			return true
		case <-ctx.Done():
			l.free <- r
		}
	case <-ctx.Done():
	}
	return false
}

// handoff lets a room's holder leave, and join again once the next holder has its state.
func (l *load) handoff(ctx context.Context, c *conn, r int) (float64, error) {
	defer func() { l.free <- r }()
	room, before := l.room(r), l.people[l.holder[r]]
	released := time.Now()
	if _, err := c.done(room, before); err != nil {
		return 0, err
	}
	g, err := next(ctx, l.grants[r], l.fence[r])
	if err != nil {
		return 0, fmt.Errorf("room %s: %w", room, err)
	}
	l.holder[r], l.fence[r] = g.n, g.s.Fence
	_, err = c.join(room, before)
	return ms(g.at.Sub(released)), err
}
