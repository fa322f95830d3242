package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// sockets measures what waiting sockets cost in one room, and what a change costs for them.
func (m *measurement) sockets(ctx context.Context) error {
	const room = "growth:sockets"
	if err := m.serve(ctx); err != nil {
		return err
	}
	line := newSellers(room, inLine)
	if err := each(line, 1, func(s *seller) error { return s.join(m.lab) }); err != nil {
		return err
	}
	none, err := m.quiet(ctx)
	if err != nil {
		return err
	}
	m.put("replica_mib_base", resident(m.replica)/1024)
	empty := resident(m.replica)
	if err := m.snapshot(ctx, line[0]); err != nil {
		return err
	}
	if err := each(line[1:], workers, func(s *seller) error { return s.open(ctx, m.lab) }); err != nil {
		return err
	}
	time.Sleep(settled)
	m.put("replica_kib_socket", (resident(m.replica)-empty)/inLine)
	idle, err := m.idle(ctx, watched)
	if err != nil {
		return err
	}
	m.put("redis_us_s_idle_waiter", (idle.redis-none.redis)/inLine)
	m.put("replica_us_s_idle_waiter", (idle.replica-none.replica)/inLine)
	if err := m.frames(ctx, line); err != nil {
		return err
	}
	again := line[turns : turns+1000]
	u, _, err := m.cost(ctx, len(again), func() error {
		return each(again, workers, func(s *seller) error { _ = s.socket.Close(); return s.open(ctx, m.lab) })
	})
	m.put("redis_us_reconnect", u.redis)
	m.put("replica_us_reconnect", u.replica)
	for _, s := range line {
		_ = s.socket.Close()
	}
	return err
}

// snapshot opens the first socket of a room, for which the replica reads the whole line.
func (m *measurement) snapshot(ctx context.Context, s *seller) error {
	slow, err := m.slowest(ctx, func() error { return s.open(ctx, m.lab) },
		func(redis.SlowLog) bool { return true })
	if err != nil {
		return err
	}
	m.put("redis_us_snapshot_place", slow.most/inLine)
	m.put("frame_b", float64(s.frame))
	return nil
}

type slowlog struct{ sum, most float64 }

// slowest returns the time of the slowest matching command that Redis ran during do, in µs.
func (m *measurement) slowest(ctx context.Context, do func() error, of func(redis.SlowLog) bool) (s slowlog,
	err error) {
	for _, pair := range [][2]string{{"slowlog-max-len", "50000"}, {"slowlog-log-slower-than", "0"}} {
		if err := m.rdb.ConfigSet(ctx, pair[0], pair[1]).Err(); err != nil {
			return s, err
		}
	}
	defer m.rdb.ConfigSet(ctx, "slowlog-log-slower-than", "-1")
	if err := m.rdb.Do(ctx, "SLOWLOG", "RESET").Err(); err != nil {
		return s, err
	}
	if err := do(); err != nil {
		return s, err
	}
	list, err := m.rdb.SlowLogGet(ctx, 50000).Result()
	for _, entry := range list {
		if us := float64(entry.Duration.Microseconds()); ranLua(entry) && of(entry) {
			s.sum, s.most = s.sum+us, max(s.most, us)
		}
	}
	return s, err
}

// frames hands the lock on at a rate at which each handoff is sent to all sockets.
func (m *measurement) frames(ctx context.Context, line []*seller) error {
	const handoffs, every = 40, 300 * time.Millisecond
	before, err := m.metric(`waitroom_hub_frames_total{type="state"}`)
	if err != nil {
		return err
	}
	u, _, err := m.cost(ctx, 1, func() error {
		return each(line[:handoffs], 1, func(s *seller) error { time.Sleep(every); return s.leave(m.lab) })
	})
	if err != nil {
		return err
	}
	after, err := m.metric(`waitroom_hub_frames_total{type="state"}`)
	if err != nil {
		return err
	}
	sent := after - before
	m.put("replica_us_frame", (u.replica-handoffs*m.values["replica_us_handoff"])/sent)
	return nil
}

// rooms measures the cost of a room with a holder and a waiter, with a socket each, in which nothing happens.
func (m *measurement) rooms(ctx context.Context) error {
	if err := m.serve(ctx); err != nil {
		return err
	}
	none, err := m.quiet(ctx)
	if err != nil {
		return err
	}
	before := resident(m.replica)
	var list []*seller
	for i := range rooms {
		list = append(list, newSellers(fmt.Sprint("growth:r", i), 2)...)
	}
	if err := each(list, workers, func(s *seller) error {
		if err := s.join(m.lab); err != nil {
			return err
		}
		return s.open(ctx, m.lab)
	}); err != nil {
		return err
	}
	if err := m.drained(ctx); err != nil {
		return err
	}
	time.Sleep(settled)
	m.put("replica_kib_room", (resident(m.replica)-before)/rooms-2*m.values["replica_kib_socket"])
	idle, err := m.idle(ctx, watched)
	if err != nil {
		return err
	}
	m.put("redis_us_s_idle_room", (idle.redis-none.redis)/rooms-m.values["redis_us_s_idle_waiter"])
	m.put("replica_us_s_idle_room", (idle.replica-none.replica)/rooms-m.values["replica_us_s_idle_waiter"])
	const seconds = 4
	index, err := m.slowest(ctx, func() error { time.Sleep(seconds * time.Second); return nil },
		func(e redis.SlowLog) bool { return len(e.Args) > 3 && strings.HasPrefix(e.Args[3], "{waitroom}") })
	m.put("redis_us_s_idle_index", index.sum/seconds/rooms)
	return err
}

// events measures what a change costs a second replica that follows the rooms for one spectator each, the few
// frames included.
func (m *measurement) events(ctx context.Context) error {
	const followed, perRoom = 20, 100
	url, pid, stop, err := m.another(ctx)
	if err != nil {
		return err
	}
	defer stop()
	there := *m.lab
	there.url = url
	var list []*seller
	for i := range followed {
		room := fmt.Sprint("growth:e", i)
		list = append(list, newSellers(room, perRoom)...)
		spectator := &seller{room: room}
		if err := spectator.open(ctx, &there); err != nil {
			return err
		}
		defer func() { _ = spectator.socket.Close() }()
	}
	if _, err := m.quiet(ctx); err != nil {
		return err
	}
	const state = `waitroom_hub_frames_total{type="state"}`
	before, began := worked(pid), time.Now()
	time.Sleep(watched)
	idle := (worked(pid) - before) / time.Since(began).Seconds()
	sent, _ := metricAt(url, state)
	before, began = worked(pid), time.Now()
	if err := each(list, workers, func(s *seller) error { return s.join(m.lab) }); err != nil {
		return err
	}
	took := worked(pid) - before - idle*time.Since(began).Seconds()
	after, err := metricAt(url, state)
	m.put("replica_us_event", took/float64(len(list)))
	log.Printf("with %.3g frames for each", (after-sent)/float64(len(list)))
	return err
}

// ranLua reports whether a command ran the Lua library or a script.
func ranLua(entry redis.SlowLog) bool {
	name := strings.ToLower(entry.Args[0])
	return strings.HasPrefix(name, "fcall") || strings.HasPrefix(name, "eval")
}
