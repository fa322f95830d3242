package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lab/stack"
)

// sample has the measured values at one time, by the names of the quantities.
type sample map[string]float64

// sample measures Redis and both replicas.
func (d *day) sample(ctx context.Context) (sample, error) {
	s := sample{}
	if err := d.sampleRedis(ctx, s); err != nil {
		return nil, err
	}
	for i, r := range d.replicas {
		if err := s.replica(ctx, r, fmt.Sprint(" ", i+1)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (d *day) sampleRedis(ctx context.Context, s sample) error {
	info, err := d.rdb.InfoMap(ctx, "memory", "clients").Result()
	if err != nil {
		return err
	}
	s["used"] = number(info["Memory"]["used_memory"]) / (1 << 20)
	s["clients"] = number(info["Clients"]["connected_clients"])
	if use, ok := stack.Look(d.redis.Pid()); ok {
		s["redis rss"] = use.RSS
	}
	keys, err := d.rdb.DBSize(ctx).Result()
	if err != nil {
		return err
	}
	s["keys"] = float64(keys)
	return d.sampleRooms(ctx, s)
}

// sampleRooms adds up the keys of all rooms.
func (d *day) sampleRooms(ctx context.Context, s sample) error {
	pipe := d.rdb.Pipeline()
	all := map[string][]*redis.IntCmd{}
	for _, r := range d.rooms {
		key := func(name string) string { return "{" + r.id + "}:" + name }
		all["streams"] = append(all["streams"], pipe.XLen(ctx, key("journal")))
		all["ended leases"] = append(all["ended leases"], pipe.ZCard(ctx, key("leases")))
		all["places"] = append(all["places"], pipe.HLen(ctx, key("places")))
		all["inbox"] = append(all["inbox"], pipe.ZCard(ctx, key("inbox")), pipe.HLen(ctx, key("texts")))
	}
	all["index"] = []*redis.IntCmd{pipe.ZCard(ctx, "{waitroom}:due"), pipe.ZCard(ctx, "{waitroom}:registered")}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	for name, list := range all {
		for _, n := range list {
			s[name] += float64(n.Val())
		}
	}
	return nil
}

// replica adds the values from a replica's metrics and from /proc. The target of the next garbage collection
// is twice what was alive after the last.
func (s sample) replica(ctx context.Context, r *stack.Replica, which string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL()+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	for metric, to := range map[string]string{"go_goroutines": "goroutines", "process_open_fds": "files",
		"go_memstats_next_gc_bytes": "heap"} {
		found := false
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, metric+" "); ok {
				s[to+which], found = number(strings.TrimSpace(rest)), true
			}
		}
		if !found {
			return fmt.Errorf("%s/metrics has no %s", r.URL(), metric)
		}
	}
	s["heap"+which] /= 2 << 20
	use, ok := stack.Look(r.Pid())
	if !ok {
		return fmt.Errorf("%s is gone: %s", r.Name, r.Tail())
	}
	s["rss"+which] = use.RSS
	return nil
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // 0 where it is none, which no quantity is
	return n
}

// mean returns the mean of each quantity.
func mean(list []sample) sample {
	m := sample{}
	for _, s := range list {
		for name, value := range s {
			m[name] += value / float64(len(list))
		}
	}
	return m
}

// names returns the quantities' names, sorted.
func (s sample) names() []string { return slices.Sorted(maps.Keys(s)) }
