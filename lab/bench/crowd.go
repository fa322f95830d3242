package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	crowdSize  = 9000
	growSteps  = 3
	stepRest   = 5 * time.Second
	crowdRest  = 30 * time.Second
	rounds     = 20
	roundPause = 700 * time.Millisecond // longer than changes may be sent as one
)

// server is a server under measurement, with its audience of sockets.
type server struct {
	name     string
	child    *stack.Child
	audience *audience
	sockets  []float64 // how many were open
	resident []float64 // and what was resident then, in MiB
	each     float64   // KiB a socket at the end
	delays   sample    // ms until the last one was sent
}

// crowd measures memory and fan-out of waitroom and its rivals side by side.
func (b *bench) crowd(ctx context.Context) error {
	home, err := stack.New("waitroom-bench-")
	if err != nil {
		return err
	}
	defer home.Stop()
	s, err := b.open(ctx, layout{replicas: 1})
	if err != nil {
		return err
	}
	defer s.Stop()
	others, err := b.alone(ctx, home)
	if err != nil {
		return err
	}
	ours, line, err := b.ours(ctx, s)
	if err != nil {
		return err
	}
	defer ours.audience.close()
	rival, err := b.startRival(ctx, home)
	if err != nil {
		return err
	}
	defer rival.audience.close()
	if err := b.fill(ctx, &rival.server); err != nil {
		return err
	}
	others = append([]*server{&rival.server}, others...)
	b.memoryRow(ours, others)
	b.plotMemory(append([]*server{ours}, others...))
	if line.c, err = dial(s.replicas[0].Addr); err != nil {
		return err
	}
	defer func() { _ = line.c.Close() }()
	for range b.n(rounds) { // in turn: what disturbs one disturbs the other
		if err := errors.Join(line.handoff(ctx, ours), rival.broadcast(ctx)); err != nil {
			return err
		}
	}
	b.fanOutRow(ours, others)
	return nil
}

// ours returns waitroom with a line of sellers.
func (b *bench) ours(ctx context.Context, s *site) (*server, *standing, error) {
	n, r := b.n(crowdSize), s.replicas[0]
	o := &server{name: "waitroom", child: &r.Child}
	if err := o.look(0); err != nil {
		return nil, nil, err
	}
	people, err := s.people(ctx, r, n, one(benchRoom))
	if err != nil {
		return nil, nil, err
	}
	l := &standing{people: people, holder: slices.IndexFunc(people,
		func(p person) bool { return p.place.Status == "locked" })}
	o.audience = newAudience(ctx, seats(r.URL(), one(benchRoom), people))
	return o, l, b.fill(ctx, o)
}

// fill opens the sockets in steps and measures after each.
func (b *bench) fill(ctx context.Context, s *server) error {
	n := b.n(crowdSize)
	for step := 1; step <= growSteps; step++ {
		if err := s.audience.grow(ctx, n*step/growSteps); err != nil {
			return err
		}
		rest := b.span(stepRest)
		if step == growSteps {
			rest = b.span(crowdRest)
		}
		if !stack.Pause(ctx, rest) {
			return ctx.Err()
		}
		if err := s.look(float64(n * step / growSteps)); err != nil {
			return err
		}
	}
	s.each = (s.resident[growSteps] - s.resident[0]) * 1024 / float64(n)
	return nil
}

func (s *server) look(sockets float64) error {
	u, ok := stack.Look(s.child.Pid())
	if !ok {
		return fmt.Errorf("%s is gone", s.name)
	}
	log.Printf("  %s with %.0f sockets: %.0f MiB", s.name, sockets, u.RSS)
	s.sockets, s.resident = append(s.sockets, sockets), append(s.resident, u.RSS)
	return nil
}

// standing is the line of the crowd: its holder, and the next in line.
type standing struct {
	c      *conn
	people []person
	holder int
}

// handoff lets the holder leave, waits until all sockets have the new state, and joins the same seller at the
// end.
func (l *standing) handoff(ctx context.Context, s *server) error {
	released := time.Now()
	p, err := l.c.done(benchRoom, l.people[l.holder])
	if err != nil {
		return err
	}
	last, err := s.audience.until(ctx, p.Version)
	if err != nil {
		return err
	}
	s.delays = append(s.delays, ms(last.Sub(released)))
	if err := s.audience.truly(); err != nil {
		return err
	}
	before := l.holder
	l.holder = s.audience.holder()
	if l.holder < 0 {
		return fmt.Errorf("no seller holds the lock after version %d", p.Version)
	}
	stack.Pause(ctx, roundPause/2)
	if p, err = l.c.join(benchRoom, l.people[before]); err != nil {
		return err
	}
	if _, err := s.audience.until(ctx, p.Version); err != nil {
		return err
	}
	stack.Pause(ctx, roundPause/2)
	return ctx.Err()
}

// holder returns the person whose last frame says that it holds the lock.
func (a *audience) holder() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, s := range a.last {
		if s.Status == "locked" {
			return i
		}
	}
	return -1
}
