package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	subscribers = 50
	messages    = 4000
	eventBytes  = 600
	masters     = 3
)

// fanOut measures what it costs Redis to send one event to one more replica.
func (m *measurement) fanOut(ctx context.Context) error {
	var few, many float64
	for _, n := range []int{1, 1 + subscribers} {
		for range n {
			ps := m.rdb.Subscribe(ctx, "growth-events")
			defer func() { _ = ps.Close() }()
			if _, err := ps.Receive(ctx); err != nil {
				return err
			}
			go func() {
				for range ps.Channel(redis.WithChannelSize(messages)) { // until it is closed
				}
			}()
		}
		u, err := publish(ctx, m.rdb, func() (float64, error) { return redisUsed(ctx, m.rdb) })
		if err != nil {
			return err
		}
		few, many = many, u
	}
	m.put("redis_us_deliver", (many-few)/(1+subscribers))
	return nil
}

// publish sends events one after the other and returns the processor time for each by a clock.
func publish(ctx context.Context, rdb *redis.Client, clock func() (float64, error)) (float64, error) {
	text := strings.Repeat("x", eventBytes)
	before, err := clock()
	if err != nil {
		return 0, err
	}
	for range messages {
		if err := rdb.Publish(ctx, "growth-events", text).Err(); err != nil {
			return 0, err
		}
	}
	after, err := clock()
	return (after - before) / messages, err
}

// bus measures what an event costs each other master of a Redis Cluster, since all receive it.
func (m *measurement) bus(ctx context.Context) error {
	var addrs []string
	for i := range masters {
		addr, err := m.launchRedis("--cluster-enabled", "yes", "--cluster-config-file", fmt.Sprint("nodes-", i))
		if err != nil {
			return err
		}
		addrs = append(addrs, addr)
	}
	create := append(append([]string{"--cluster", "create"}, addrs...), "--cluster-yes")
	if err := until(ctx, func() error {
		out, err := exec.CommandContext(ctx, "redis-cli", create...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "not empty") {
			return fmt.Errorf("redis-cli: %w: %s", err, out)
		}
		return nil
	}); err != nil {
		return err
	}
	first, other := redis.NewClient(&redis.Options{Addr: addrs[0]}),
		redis.NewClient(&redis.Options{Addr: addrs[1]})
	defer func() { _, _ = first.Close(), other.Close() }()
	clock := func() (float64, error) { return redisUsed(ctx, other) }
	quiet, err := clock()
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	then, err := clock()
	if err != nil {
		return err
	}
	began := time.Now()
	u, err := publish(ctx, first, clock)
	m.put("redis_us_bus", u-(then-quiet)/2*time.Since(began).Seconds()/messages)
	return err
}
