package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	verbRounds = 30
	verbCalls  = 50 // a round
	idleLook   = 2 * time.Second
)

// least is the simplest lock script, for comparison: it sets a key with a TTL and deletes it.
const least = `redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) redis.call('DEL', KEYS[1]) return 1`

// meter measures the time that scripts take in Redis, less the time that they take without clients.
type meter struct {
	s            *site
	calls, costs float64 // a second, when no client calls
}

func (s *site) meter(ctx context.Context) (m meter, err error) {
	m.s = s
	calls, costs, err := s.scripts(ctx)
	if err != nil {
		return m, err
	}
	began := time.Now()
	if !stack.Pause(ctx, idleLook) {
		return m, ctx.Err()
	}
	calls2, costs2, err := s.scripts(ctx)
	seconds := time.Since(began).Seconds()
	m.calls, m.costs = (calls2-calls)/seconds, (costs2-costs)/seconds
	return m, err
}

// each returns the average µs of scripts for one of n calls, and the ms that a call took for its caller.
func (m meter) each(ctx context.Context, n int, call func(i int) error) (micros float64, took sample,
	err error) {
	_, before, err := m.s.scripts(ctx)
	if err != nil {
		return 0, nil, err
	}
	began := time.Now()
	for i := range n {
		asked := time.Now()
		if err := call(i); err != nil {
			return 0, nil, err
		}
		took = append(took, ms(time.Since(asked)))
	}
	seconds := time.Since(began).Seconds()
	_, after, err := m.s.scripts(ctx)
	return max(after-before-m.costs*seconds, 0) / float64(n), took, err
}

// verbs compares a join and a leave of free rooms with the least that a script can do.
func (b *bench) verbs(ctx context.Context) error {
	s, err := b.open(ctx, layout{replicas: 1, database: noDatabase})
	if err != nil {
		return err
	}
	defer s.Stop()
	c, err := dial(s.replicas[0].Addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	steps, err := verbSteps(ctx, s, c)
	if err != nil {
		return err
	}
	m, err := s.meter(ctx)
	if err != nil {
		return err
	}
	cost := make([]sample, len(steps))
	for round := range b.n(verbRounds) + 1 {
		for i, step := range steps {
			micros, _, err := m.each(ctx, verbCalls, step)
			if err != nil {
				return err
			}
			if round > 0 { // before that, scripts are loaded
				cost[i] = append(cost[i], micros)
			}
		}
	}
	b.verbsRow(cost, m)
	return nil
}

// verbSteps are a join, a leave, the least script after a request that does nothing, and that script alone.
func verbSteps(ctx context.Context, s *site, c *conn) ([]func(i int) error, error) {
	people := make([]person, verbCalls)
	for i := range people {
		people[i] = newPerson()
	}
	script := redis.NewScript(least)
	alone := func(i int) error {
		return script.EvalSha(ctx, s.rdb, []string{fmt.Sprint("{least}:", i)}, people[i].session, 120_000).Err()
	}
	return []func(i int) error{
		func(i int) error { _, err := c.join(fmt.Sprint("bench:", i), people[i]); return err },
		func(i int) error { _, err := c.done(fmt.Sprint("bench:", i), people[i]); return err },
		func(i int) error {
			if _, _, err := c.do("GET", "/healthz", "", ""); err != nil {
				return err
			}
			return alone(i)
		},
		alone,
	}, script.Load(ctx, s.rdb).Err()
}

func (b *bench) verbsRow(cost []sample, m meter) {
	ratio, cold := [2]sample{}, [2]sample{}
	for i := range ratio {
		for round, micros := range cost[i] {
			ratio[i], cold[i] = append(ratio[i], micros/cost[3][round]), append(cold[i], micros/cost[2][round])
		}
	}
	said := func(i int) string { return fmt.Sprintf("%s µs (%s)", number(cost[i].median()), cost[i].spread("")) }
	b.add(row{what: "a join or leave of a free room in Redis, one client, by `INFO commandstats`",
		bar: "≤ 14 × a script that only does `SET NX PX` and `DEL`, again and again with nothing in between",
		checks: []check{{"join", ratio[0].median(), " ×", 14, false},
			{"leave", ratio[1].median(), " ×", 14, false}},
		how: fmt.Sprintf("%d rounds, in turn, of %d joins by HTTP, as many leaves, and as many times that "+
			"script; medians: join %s, leave %s, the script %s. After a request that touches "+
			"nothing, so that caches are as cold for it as for a join, the script takes %s: a join is %s × that, "+
			"a leave %s ×. The ledger was away, so that its reading is not counted; what scripts cost when nobody "+
			"asks (%s µs a second) is taken off.",
			len(cost[0]), verbCalls, said(0), said(1), said(3), said(2), number(cold[0].median()),
			number(cold[1].median()), number(m.costs))})
}
