package main

import (
	"context"
	"fmt"
)

const (
	longLine   = 100_000
	shortLine  = 10
	lineRounds = 8
	lineCalls  = 40
)

// line compares the verbs in a long line with those in a short one.
func (b *bench) line(ctx context.Context) error {
	s, err := b.open(ctx, layout{replicas: 1, database: noDatabase})
	if err != nil {
		return err
	}
	defer s.Stop()
	rooms := []string{"bench:short", "bench:long"}
	for i, n := range []int{shortLine, b.n(longLine)} {
		if _, err := s.people(ctx, s.replicas[0], n+1, one(rooms[i])); err != nil {
			return fmt.Errorf("%d waiters: %w", n, err)
		}
	}
	c, err := dial(s.replicas[0].Addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	m, err := s.meter(ctx)
	if err != nil {
		return err
	}
	people := make([]person, lineCalls)
	for i := range people {
		people[i] = newPerson()
	}
	verbs := []string{"join", "position", "leave"}
	var micros, took [3][2]sample // by verb and room
	for range b.n(lineRounds) {
		for r, room := range rooms { // in turn: what disturbs one disturbs the other
			for v, call := range []func(i int) error{
				func(i int) error { _, err := c.join(room, people[i]); return err },
				func(i int) error {
					_, err := c.ask("GET", "/api/"+room+"/lock/status", people[i].session, "")
					return err
				},
				func(i int) error { _, err := c.done(room, people[i]); return err },
			} {
				cost, spent, err := m.each(ctx, lineCalls, call)
				if err != nil {
					return err
				}
				micros[v][r], took[v][r] = append(micros[v][r], cost), append(took[v][r], spent...)
			}
		}
	}
	line := row{what: "join, leave and position at 100,000 waiters against 10", bar: "≤ 1.5 ×",
		how: fmt.Sprintf("%d rounds of %d calls in each room, in turn; the greater of two ratios: "+
			"of scripts in Redis by its own count, and of the whole HTTP request, both medians.", len(micros[0][0]),
			lineCalls)}
	for v, name := range verbs {
		scripts, whole := micros[v][1].median()/micros[v][0].median(), took[v][1].median()/took[v][0].median()
		worse := whole
		if micros[v][0].median() > 0 {
			worse = max(scripts, whole)
		}
		line.checks = append(line.checks, check{name, worse, " ×", 1.5, false})
		line.how += fmt.Sprintf(" %s: %s against %s µs in Redis, %s against %s ms in all.", name,
			number(micros[v][1].median()), number(micros[v][0].median()),
			number(took[v][1].median()), number(took[v][0].median()))
	}
	b.add(line)
	return nil
}
