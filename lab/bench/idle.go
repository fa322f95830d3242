package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	idleMore  = 4000
	idleBase  = 100 // so that whatever starts with the first one is not counted
	idleSteps = 2
	idleSpan  = 20 * time.Second
	idleRest  = 8 * time.Second
)

// idleCost is the processor time of an idle deployment, by the number of places or rooms.
type idleCost struct {
	name                   string
	count, redis, replica  []float64
	moreRedis, moreReplica float64
	behind                 string // that the ledger was, during the last measurement
}

// idle measures the cost of idleness twice: with many places in one room, and with many rooms.
func (b *bench) idle(ctx context.Context) error {
	waiters, err := b.idleWith(ctx, "waiters", 1, one(benchRoom))
	if err != nil {
		return err
	}
	rooms, err := b.idleWith(ctx, "rooms", 2, func(i int) string { return fmt.Sprint("bench:", i/2) })
	if err != nil {
		return err
	}
	how := fmt.Sprintf("Cores by difference, over %s each, of processes seen from outside; sockets answer "+
		"their pings, nobody does anything else.", b.span(idleSpan))
	for _, c := range []struct {
		what string
		cost *idleCost
	}{{"nothing happens: 4,000 connected waiters more in one room", waiters},
		{"nothing happens: 4,000 rooms more, with a holder and a connected waiter each", rooms}} {
		b.add(row{what: c.what, bar: "≤ 0.02 of a core of Redis, ≤ 0.03 of the replica", checks: []check{
			{"Redis", c.cost.moreRedis, "", 0.02, false}, {"replica", c.cost.moreReplica, "", 0.03, false}},
			how: how + " " + c.cost.text()})
	}
	b.plotIdle(waiters, rooms)
	return nil
}

func (c *idleCost) text() string {
	text := "Redis and replica with"
	for i := range c.count {
		text += fmt.Sprintf(" %.0f: %s and %s;", c.count[i], number(c.redis[i]), number(c.replica[i]))
	}
	return text[:len(text)-1] + "." + c.behind
}

// idleWith adds rooms or places in steps. Each addition is a number of places, of which the last has a
// socket.
func (b *bench) idleWith(ctx context.Context, name string, places int, room func(int) string) (*idleCost,
	error) {
	s, err := b.open(ctx, layout{replicas: 1})
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	base, more, c := b.n(idleBase), b.n(idleMore), &idleCost{name: name}
	var connected []person
	a := newAudience(ctx, func(ctx context.Context, i int) (*crowd.Socket, error) {
		return seats(s.replicas[0].URL(), func(i int) string { return room(i*places + places - 1) }, connected)(ctx,
			i)
	})
	defer a.close()
	for step := range idleSteps + 1 {
		n := base + more*step/idleSteps
		from := len(connected)
		for nth := range places { // the holders of all rooms come first
			added, err := s.people(ctx, s.replicas[0], n-from,
				func(i int) string { return room((from+i)*places + nth) })
			if err != nil {
				return nil, err
			}
			if nth == places-1 {
				connected = append(connected, added...)
			}
		}
		if err := a.grow(ctx, n); err != nil {
			return nil, err
		}
		if err := s.drained(ctx); errors.Is(err, errBehind) {
			c.behind = fmt.Sprintf(" With %d of them %s; measured all the same.", n, err)
			log.Print(" ", c.behind)
		} else if err != nil {
			return nil, err
		}
		if !stack.Pause(ctx, b.span(idleRest)) {
			return nil, ctx.Err()
		}
		redis, replica, err := s.cores(ctx, b.span(idleSpan))
		if err != nil {
			return nil, err
		}
		log.Printf("  %d %s: Redis %s cores, replica %s", n, name, number(redis), number(replica))
		c.count, c.redis, c.replica = append(c.count, float64(n)), append(c.redis, redis),
			append(c.replica, replica)
	}
	c.moreRedis, c.moreReplica = c.redis[idleSteps]-c.redis[0], c.replica[idleSteps]-c.replica[0]
	if a.lost > 0 {
		return nil, fmt.Errorf("%d sockets were lost", a.lost)
	}
	return c, nil
}

// cores returns the average use of processors by Redis and the first replica over a span without requests.
func (s *site) cores(ctx context.Context, span time.Duration) (redis, replica float64, err error) {
	look := func() (r, w stack.Usage, err error) {
		r, ok := stack.Look(s.redis.Pid())
		w, also := stack.Look(s.replicas[0].Pid())
		if !ok || !also {
			err = errors.New("no use of Redis and the replica is to be seen: one is gone, or there is no /proc")
		}
		return r, w, err
	}
	r, w, err := look()
	if err != nil {
		return 0, 0, err
	}
	if !stack.Pause(ctx, span) {
		return 0, 0, ctx.Err()
	}
	r2, w2, err := look()
	if err != nil {
		return 0, 0, err
	}
	return r2.Cores(r), w2.Cores(w), nil
}
