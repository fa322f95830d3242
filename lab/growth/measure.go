package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How many of each are measured: enough that a hundredth of a second of processor time, which is what the
// kernel counts, is little.
const (
	inLine    = 3000
	turns     = 600
	withCodes = 300
	rooms     = 1000
	watched   = 12 * time.Second // idle
	settled   = 30 * time.Second // before memory is read
)

// measurement has the constants measured in one run, by name.
type measurement struct {
	*lab
	values map[string]float64
}

// measure makes small workloads on the product itself and returns what each costs.
func measure(ctx context.Context, root string) (map[string]float64, error) {
	l, err := openLab(ctx, root)
	defer l.close()
	if err != nil {
		return nil, err
	}
	m := &measurement{lab: l, values: map[string]float64{}}
	for _, part := range []func(context.Context) error{m.acts, m.events, m.sockets, m.rooms, m.fanOut, m.bus} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return m.values, nil
}

// put stores a value, or 0 if noise made it negative.
func (m *measurement) put(name string, value float64) {
	m.values[name] = max(value, 0)
	log.Printf("%-26s %.4g", name, m.values[name])
}

// cost returns what one of n repetitions costs, in µs and in bytes of the database, less what idleness costs
// meanwhile.
func (m *measurement) cost(ctx context.Context, n int, do func() error) (u used, grown float64, err error) {
	idle, err := m.idle(ctx, 2*time.Second)
	if err != nil {
		return u, 0, err
	}
	size, err := m.databaseSize(ctx)
	if err != nil {
		return u, 0, err
	}
	before, began := used{}, time.Now()
	if before, err = m.used(ctx); err != nil {
		return u, 0, err
	}
	if err := do(); err != nil {
		return u, 0, err
	}
	if err := m.drained(ctx); err != nil {
		return u, 0, err
	}
	after, err := m.used(ctx)
	if err != nil {
		return u, 0, err
	}
	took := time.Since(began).Seconds()
	now, err := m.databaseSize(ctx)
	u = after.minus(before, 1).minus(idle, took)
	return used{u.redis / float64(n), u.replica / float64(n), u.db / float64(n)}, (now - size) / float64(n), err
}

// idle returns the processor time of an idle second, in µs.
func (m *measurement) idle(ctx context.Context, d time.Duration) (u used, err error) {
	before, err := m.used(ctx)
	if err != nil {
		return u, err
	}
	began := time.Now()
	time.Sleep(d)
	after, err := m.used(ctx)
	s := time.Since(began).Seconds()
	u = after.minus(before, 1)
	return used{u.redis / s, u.replica / s, u.db / s}, err
}

// quiet is idle after all pending work is done.
func (m *measurement) quiet(ctx context.Context) (used, error) {
	if err := m.drained(ctx); err != nil {
		return used{}, err
	}
	time.Sleep(settled / 3)
	return m.idle(ctx, watched)
}

// drained waits until the journals are empty.
func (m *measurement) drained(ctx context.Context) error {
	return until(ctx, func() error {
		keys, err := m.rdb.Keys(ctx, "*:journal").Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			if n, err := m.rdb.XLen(ctx, key).Result(); err != nil || n > 0 {
				return fmt.Errorf("%s has %d entries: %w", key, n, err)
			}
		}
		return nil
	})
}

func (m *measurement) databaseSize(ctx context.Context) (size float64, err error) {
	return size, m.db.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size)
}

// memory returns the memory of a key by MEMORY USAGE; 0 if it does not exist.
func (m *measurement) memory(ctx context.Context, key string) float64 {
	n, _ := m.rdb.MemoryUsage(ctx, key, 0).Result()
	return float64(n)
}

func (m *measurement) memories(ctx context.Context, room string, parts ...string) (sum float64) {
	for _, part := range parts {
		sum += m.memory(ctx, "{"+room+"}:"+part)
	}
	return sum
}

// acts measures sellers' calls, in one room without sockets.
func (m *measurement) acts(ctx context.Context) error {
	const room = "growth:acts"
	holder := newSellers(room, 1)
	if err := holder[0].join(m.lab); err != nil {
		return err
	}
	m.put("redis_b_room", m.memories(ctx, room, "lock", "state", "places", "sellers"))
	line := newSellers(room, inLine)
	u, grown, err := m.cost(ctx, inLine, func() error {
		return each(line, workers,
			func(s *seller) error { return s.join(m.lab) })
	})
	if err != nil {
		return err
	}
	m.act("join", u, grown)
	m.put("redis_b_waiter", m.memories(ctx, room, "queue", "places", "sellers")/inLine)
	keys, err := m.rdb.Keys(ctx, "*:request:*").Result()
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		m.put("redis_b_request", m.memory(ctx, keys[0]))
	}
	leavers := line[:inLine/2]
	if u, grown, err = m.cost(ctx, len(leavers),
		func() error {
			return each(leavers, workers,
				func(s *seller) error { return s.leave(m.lab) })
		}); err != nil {
		return err
	}
	m.act("leave", u, grown)
	m.put("redis_b_outcome", m.memories(ctx, room, "places", "ended")/inLine-m.memories(ctx, room,
		"queue")/inLine)
	line = line[len(leavers):]
	slices.SortFunc(line, func(a, b *seller) int { return int(a.ticket - b.ticket) })
	line = append(holder, line...)
	if u, grown, err = m.cost(ctx, turns, func() error {
		return each(line[:turns], 1,
			func(s *seller) error { return s.leave(m.lab) })
	}); err != nil {
		return err
	}
	m.act("handoff", u, grown)
	m.put("redis_b_lease", m.memories(ctx, room, "leases")/turns)
	return m.codes(ctx, line[turns:], u)
}

// codes measures turns that a code ends. What they cost beyond a handoff is the code's cost.
func (m *measurement) codes(ctx context.Context, line []*seller, handoff used) error {
	fence := func(s *seller) (int64, error) {
		text, err := m.rdb.Get(ctx, "{"+s.room+"}:lock").Result()
		var lock struct{ Fence int64 }
		if err == nil {
			err = json.Unmarshal([]byte(text), &lock)
		}
		return lock.Fence, err
	}
	look, _, err := m.cost(ctx, withCodes, func() error {
		return each(line[:withCodes], 1, func(s *seller) error { _, err := fence(s); return err })
	})
	if err != nil {
		return err
	}
	u, grown, err := m.cost(ctx, withCodes, func() error {
		return each(line[:withCodes], 1, func(s *seller) error {
			f, err := fence(s)
			if err != nil {
				return err
			}
			return s.code(m.lab, f)
		})
	})
	m.act("code", u.minus(look, 1).minus(handoff, 1), grown-m.values["db_b_handoff"])
	return err
}

func (m *measurement) act(name string, u used, grown float64) {
	m.put("redis_us_"+name, u.redis)
	m.put("replica_us_"+name, u.replica)
	m.put("db_us_"+name, u.db)
	m.put("db_b_"+name, grown)
}

// metric returns a value of the replica's own metrics.
func (m *measurement) metric(name string) (float64, error) { return metricAt(m.url, name) }

func metricAt(url, name string) (float64, error) {
	text, err := get(url + "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			return strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}
