package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lab/stack"
)

const warmKeys = 20 // for connections and scripts

// oneOff is the cost of locks that are taken once, each on a key of its own, as for a reservation or an
// order.
type oneOff struct {
	library   string
	pair      spent // take and release
	extend    spent
	extended  bool    // whether the library has a call for that
	rest      spent   // afterwards, until what is left is measured
	left      float64 // bytes a lock, of Redis's used memory
	keys      float64 // that are there a lock
	forgotten time.Duration
}

// spent is the average cost of one lock.
type spent struct {
	took         time.Duration // for one client that does one after the other
	sent, inside float64       // commands sent to Redis, and run there, those in scripts included
	cpu          time.Duration // of Redis
}

// meter reads the statistics of a Redis.
type meter struct {
	rdb    *redis.Client
	count  *commands
	at     time.Time
	sent   int64
	inside int64
	cpu    time.Duration
}

func (m *meter) start(ctx context.Context) (err error) {
	m.inside, m.cpu, err = m.read(ctx)
	m.at, m.sent = time.Now(), m.count.sent.Load()
	return err
}

// stop returns the cost of each of n locks since the start, without the meter's own INFO.
func (m *meter) stop(ctx context.Context, n int) (spent, error) {
	took, sent := time.Since(m.at), m.count.sent.Load()-m.sent
	inside, cpu, err := m.read(ctx)
	return spent{took: took / time.Duration(n), sent: float64(sent) / float64(n),
		inside: float64(inside-m.inside-2) / float64(n), cpu: (cpu - m.cpu) / time.Duration(n)}, err
}

func (m *meter) read(ctx context.Context) (calls int64, cpu time.Duration, err error) {
	text, err := m.rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(text) {
		var n int64
		if _, found, ok := strings.Cut(line, ":calls="); ok {
			_, _ = fmt.Sscan(strings.SplitN(found, ",", 2)[0], &n)
		}
		calls += n
	}
	if text, err = m.rdb.Info(ctx, "cpu").Result(); err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(text) {
		var seconds float64
		for _, kind := range []string{"used_cpu_sys:", "used_cpu_user:"} {
			if found, ok := strings.CutPrefix(line, kind); ok {
				_, _ = fmt.Sscan(found, &seconds)
				cpu += time.Duration(seconds * float64(time.Second))
			}
		}
	}
	return calls, cpu, nil
}

// measureOneOffs takes n keys once, one after the other, with each library.
func measureOneOffs(ctx context.Context, c config) ([]oneOff, error) {
	var all []oneOff
	for _, lib := range libraries() {
		// no caller waits here, so libraries that differ only in waiting are left out
		if !strings.Contains(lib.name, c.only) || strings.Contains(lib.name, "tight") {
			continue
		}
		one, err := once(ctx, lib, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lib.name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func once(ctx context.Context, lib library, c config) (o oneOff, err error) {
	o.library = lib.name
	rdb := redis.NewClient(&redis.Options{Addr: c.redis})
	defer rdb.Close()
	if err := o.extensions(ctx, lib, c, rdb); err != nil {
		return o, err
	}
	return o, o.pairs(ctx, lib, c, rdb)
}

// on runs a library with a new client, with its connections and scripts ready, on an empty Redis.
func on(ctx context.Context, lib library, c config, rdb *redis.Client,
	measure func(replica, *meter) error) error {
	if err := rdb.FlushAll(ctx).Err(); err != nil {
		return err
	}
	count := &commands{}
	side, err := lib.open(c.redis, count)
	if err != nil {
		return err
	}
	defer side.close()
	for i := range warmKeys {
		mine, err := side.take(ctx, fmt.Sprintf("warm-%d", i))
		if err != nil {
			return err
		}
		if mine.extend != nil {
			err = mine.extend(ctx)
		}
		mine.release()
		if err != nil {
			return err
		}
	}
	return measure(side, &meter{rdb: rdb, count: count})
}

// extensions measures n leases that are extended once.
func (o *oneOff) extensions(ctx context.Context, lib library, c config, rdb *redis.Client) error {
	return on(ctx, lib, c, rdb, func(side replica, m *meter) error {
		all := make([]held, 0, c.oneOff)
		defer func() {
			for _, mine := range all {
				mine.release()
			}
		}()
		for i := range c.oneOff {
			mine, err := side.take(ctx, fmt.Sprintf("extended-%d", i))
			if err != nil {
				return err
			}
			all = append(all, mine)
			if mine.extend == nil {
				return nil
			}
		}
		if err := m.start(ctx); err != nil {
			return err
		}
		for _, mine := range all {
			if err := mine.extend(ctx); err != nil {
				return err
			}
		}
		o.extended = true
		var err error
		o.extend, err = m.stop(ctx, c.oneOff)
		return err
	})
}

// pairs measures n locks that are taken and released, and what is left of them after a pause.
func (o *oneOff) pairs(ctx context.Context, lib library, c config, rdb *redis.Client) error {
	return on(ctx, lib, c, rdb, func(side replica, m *meter) error {
		before, err := usedMemory(ctx, rdb)
		if err != nil {
			return err
		}
		keysBefore := rdb.DBSize(ctx).Val()
		if err := m.start(ctx); err != nil {
			return err
		}
		for i := range c.oneOff {
			mine, err := side.take(ctx, fmt.Sprintf("once-%d", i))
			if err != nil {
				return err
			}
			mine.release()
		}
		if o.pair, err = m.stop(ctx, c.oneOff); err != nil {
			return err
		}
		if err := m.start(ctx); err != nil {
			return err
		}
		stack.Pause(ctx, c.rest)
		if o.rest, err = m.stop(ctx, c.oneOff); err != nil {
			return err
		}
		after, err := usedMemory(ctx, rdb)
		if err != nil {
			return err
		}
		o.left, o.keys = float64(after-before)/float64(c.oneOff),
			float64(rdb.DBSize(ctx).Val()-keysBefore)/float64(c.oneOff)
		o.forgotten, err = longestTTL(ctx, rdb)
		return err
	})
}

func usedMemory(ctx context.Context, rdb *redis.Client) (n int64, err error) {
	text, err := rdb.Info(ctx, "memory").Result()
	for line := range strings.Lines(text) {
		if found, ok := strings.CutPrefix(line, "used_memory:"); ok {
			_, err = fmt.Sscan(found, &n)
			return n, err
		}
	}
	return 0, err
}

// longestTTL returns when the last key of a lock expires; negative = never.
func longestTTL(ctx context.Context, rdb *redis.Client) (longest time.Duration, err error) {
	keys := rdb.Scan(ctx, 0, "*once-1[^0-9]*", 10_000).Iterator()
	for keys.Next(ctx) {
		ttl, err := rdb.PTTL(ctx, keys.Val()).Result()
		if err != nil {
			return 0, err
		}
		if ttl < 0 {
			return -1, nil
		}
		longest = max(longest, ttl)
	}
	return longest, keys.Err()
}

func reportOneOffs(c config, all []oneOff) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### A key of its own for each lock\n\nOne client takes and releases %d keys, one "+
		"after the other, each for the first and last time, and extends as many leases\n"+
		"once. Per lock: how long the client waits, the commands that are sent, those that Redis runs (in "+
		"scripts too) and its CPU time; what it still runs in the %s after the\n"+
		"last release; and what is left then: memory, keys, and for how long at most.\n\n", c.oneOff, c.rest)
	b.WriteString("| | take + release | sent | run | Redis CPU | extend | sent | run | run afterwards | " +
		"left | keys | for |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, o := range all {
		extend := "– | – | –"
		if o.extended {
			extend = fmt.Sprintf("%s | %.1f | %.1f", micros(o.extend.took), o.extend.sent, o.extend.inside)
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %s | %s | %.1f | %.0f B | %.1f | %s |\n", o.library,
			micros(o.pair.took), o.pair.sent, o.pair.inside, micros(o.pair.cpu),
			extend, o.rest.inside, max(o.left, 0), o.keys, kept(o.forgotten))
	}
	return b.String()
}

func micros(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d.Nanoseconds())/1000) }

func kept(d time.Duration) string {
	switch {
	case d < 0:
		return "ever"
	case d == 0:
		return "–"
	}
	return d.Round(time.Second).String()
}
