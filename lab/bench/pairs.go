package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	pairClients = 64
	pairRooms   = 200
	pairRounds  = 4
	pairSpan    = 5 * time.Second
)

// pairs compares one replica's rate of joins and leaves with that of a handler that does the least.
func (b *bench) pairs(ctx context.Context) error {
	s, err := b.open(ctx, layout{replicas: 1})
	if err != nil {
		return err
	}
	defer s.Stop()
	bare, _, err := b.serve(ctx, s.Stack, "bare Gin", "gin", "-redis", s.addr)
	if err != nil {
		return err
	}
	var ours, theirs, ratio, behind sample
	used := make(map[string]sample) // processor time of a pair (µs)
	for round := range b.n(pairRounds) + 1 {
		span := b.span(pairSpan)
		if round == 0 {
			span = time.Second // connections, scripts, caches
		}
		theirRate, err := b.pairRate(ctx, bare, span)
		if err != nil {
			return err
		}
		before := s.used()
		ourRate, err := b.pairRate(ctx, s.replicas[0].Addr, span)
		if err != nil {
			return err
		}
		after := s.used()
		left, err := s.journals(ctx)
		if err != nil {
			return err
		}
		if err := s.drained(ctx); err != nil {
			return err
		}
		after["replica"] = s.used()["replica"] // with what it wrote to the ledger meanwhile
		if round > 0 {
			for of, u := range after {
				used[of] = append(used[of], (u.CPU-before[of].CPU).Seconds()*1e6/(ourRate*span.Seconds()))
			}
			ours, theirs, ratio, behind = append(ours, ourRate), append(theirs, theirRate),
				append(ratio, ourRate/theirRate), append(behind, float64(left))
		}
	}
	b.add(row{what: "join + done pairs/s, one replica, 64 clients, 200 rooms, ledger on",
		bar:    "≥ 0.40 × a bare Gin handler doing `SET NX PX` and `DEL`",
		checks: []check{{"", ratio.median(), " ×", 0.40, true}},
		how: fmt.Sprintf("%d rounds of %s in turn, the ledger (SQLite) caught up in between; waitroom %s "+
			"pairs/s (%s), the bare handler %s (%s), ratio %s; "+
			"when the clients stopped the ledger was %s entries behind. Processor time of a pair: Redis %s, "+
			"the replica with its ledger %s, the clients %s. The clients share the machine.", len(ratio),
			b.span(pairSpan), number(ours.median()), ours.spread(""), number(theirs.median()),
			theirs.spread(""), ratio.spread(" ×"), behind.spread(""), used["Redis"].spread(" µs"),
			used["replica"].spread(" µs"), used["clients"].spread(" µs"))})
	return nil
}

// used returns what Redis, the first replica and this process have used so far.
func (s *site) used() map[string]stack.Usage {
	all := make(map[string]stack.Usage)
	for of, pid := range map[string]int{"Redis": s.redis.Pid(), "replica": s.replicas[0].Pid(),
		"clients": os.Getpid()} {
		all[of], _ = stack.Look(pid)
	}
	return all
}

// pairRate returns join-leave pairs a second. Each client uses rooms of its own.
func (b *bench) pairRate(ctx context.Context, addr string, span time.Duration) (float64, error) {
	var pairs atomic.Int64
	began := time.Now()
	err := each(ctx, addr, pairClients, pairClients, func(c *conn, i int) error {
		var rooms []string
		for r := i; r < pairRooms; r += pairClients {
			rooms = append(rooms, fmt.Sprint("bench:", r))
		}
		for n := 0; time.Since(began) < span && ctx.Err() == nil; n++ {
			p, room := newPerson(), rooms[n%len(rooms)]
			for _, verb := range []string{"POST", "DELETE"} {
				path, body := "/api/"+room+"/lock", p.body
				if verb == "DELETE" {
					path, body = path+"?reason=completed", ""
				}
				status, text, err := c.do(verb, path, p.session, body)
				if err != nil {
					return err
				}
				if status != 200 {
					return fmt.Errorf("%s %s: %d %s", verb, path, status, text)
				}
			}
			pairs.Add(1)
		}
		return ctx.Err()
	})
	return float64(pairs.Load()) / time.Since(began).Seconds(), err
}
