package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	drainEntries = 40_000
	drainLook    = 20 * time.Millisecond
)

// drainage is the result of draining a backlog.
type drainage struct {
	name          string
	seconds, left []float64
	rate          float64 // entries a second
}

// drain fills one room's journal while the ledger is away, and measures how fast it is drained afterwards.
func (b *bench) drain(ctx context.Context) error {
	postgres, stop, err := pgtest.Serve("fsync=on", "synchronous_commit=on", "full_page_writes=on",
		"shared_buffers=128MB")
	if err != nil {
		return err
	}
	defer stop()
	lite, err := b.drainInto(ctx, "SQLite", "")
	if err != nil {
		return err
	}
	pg, err := b.drainInto(ctx, "PostgreSQL", postgres)
	if err != nil {
		return err
	}
	b.add(row{what: "ledger drain, one room", bar: "≥ 15,000 entries/s SQLite, ≥ 10,000 PostgreSQL",
		checks: []check{{"SQLite", lite.rate, "/s", 15_000, true}, {"PostgreSQL", pg.rate, "/s", 10_000, true}},
		how: fmt.Sprintf("%.0f entries of joins and dones, written while the ledger was away; a fresh replica "+
			"then drains them: from the first entry gone to the last, by the length of the room's journal. "+
			"Both databases write each commit to disk.", lite.left[0])})
	b.plotDrain(lite, pg)
	return nil
}

// drainInto runs the measurement on a deployment of its own; a database of "" is SQLite.
func (b *bench) drainInto(ctx context.Context, name, database string) (*drainage, error) {
	s, err := b.open(ctx, layout{replicas: 1, database: noDatabase})
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	if err := each(ctx, s.replicas[0].Addr, callers, b.n(drainEntries)/2, func(c *conn, i int) error {
		p := newPerson()
		if _, err := c.join(benchRoom, p); err != nil {
			return err
		}
		_, err := c.done(benchRoom, p)
		return err
	}); err != nil {
		return nil, err
	}
	s.replicas[0].Kill()
	if database == "" {
		database = "sqlite:" + filepath.Join(s.Dir, "waitroom.db")
	}
	d := &drainage{name: name}
	total, err := s.journals(ctx)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	watching, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	go func() { ended <- d.watch(watching, s, total) }()
	if _, err := s.start(ctx, b, layout{database: database}); err != nil {
		return nil, err
	}
	return d, <-ended
}

// watch records the number of remaining entries until there are none.
func (d *drainage) watch(ctx context.Context, s *site, total int64) error {
	began := time.Now()
	for {
		left, err := s.rdb.XLen(ctx, "{"+benchRoom+"}:journal").Result()
		if err != nil {
			return err
		}
		now := time.Now()
		if left >= total { // nothing is gone yet
			began, d.seconds, d.left = now, nil, nil
		}
		d.seconds, d.left = append(d.seconds, now.Sub(began).Seconds()), append(d.left, float64(left))
		if left == 0 {
			d.rate = float64(total) / now.Sub(began).Seconds()
			return nil
		}
		if !stack.Pause(ctx, drainLook) {
			return fmt.Errorf("%s: %d of %d entries are left: %w", d.name, left, total, ctx.Err())
		}
	}
}
