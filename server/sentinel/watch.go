package sentinel

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	askEvery  = time.Second // without news: checks that the sentinel is still there
	againIn   = 200 * time.Millisecond
	dialMost  = time.Second
	replyMost = time.Second
)

// news are a sentinel's channels about a failover: its leader learns of the new master first.
var news = []string{"+switch-master", "+promoted-slave", "+failover-state-reconf-slaves",
	"+config-update-from"}

// watch polls a sentinel for the master: at once, at news, and every second, until it is gone. It runs once
// per sentinel.
func (m *master) watch(ctx context.Context, addr string) {
	m.work.Go(func() {
		o := m.cfg.Options
		client := redis.NewClient(&redis.Options{Addr: addr, Username: m.cfg.Username, Password: m.cfg.Password,
			TLSConfig:   o.TLSConfig,
			DialTimeout: dialMost, ReadTimeout: replyMost, WriteTimeout: replyMost, ContextTimeoutEnabled: true,
			PoolSize: 2, MaxRetries: -1, DialerRetries: 1,
			ReadBufferSize: 4096, WriteBufferSize: 4096, PipelinePoolSize: -1,
			MaintNotificationsConfig: o.MaintNotificationsConfig})
		defer func() { _ = client.Close() }()
		for ctx.Err() == nil && !m.gone(addr) {
			m.follow(ctx, client, addr)
			pause(ctx, againIn)
		}
	})
}

// follow polls a sentinel until it fails.
func (m *master) follow(ctx context.Context, client *redis.Client, addr string) {
	sub := client.Subscribe(ctx, news...)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	defer func() { _ = sub.Close() }()
	for {
		if err := m.ask(ctx, client, addr); err != nil {
			return
		}
		if _, err := sub.ReceiveTimeout(ctx, askEvery); err != nil && !isTimeout(err) {
			return
		}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ask records a sentinel's current answer.
func (m *master) ask(ctx context.Context, client *redis.Client, sentinel string) error {
	state := redis.NewMapStringStringCmd(ctx, "sentinel", "master", m.cfg.Master)
	addr := redis.NewStringSliceCmd(ctx, "sentinel", "get-master-addr-by-name", m.cfg.Master)
	others := redis.NewMapStringStringSliceCmd(ctx, "sentinel", "sentinels", m.cfg.Master)
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error { // one round trip, for a consistent answer
		for _, c := range []redis.Cmder{state, addr, others} {
			_ = p.Process(ctx, c)
		}
		return nil
	})
	if len(addr.Val()) != 2 {
		if err == nil {
			err = errors.New("no such master")
		}
		if ctx.Err() == nil {
			m.record(sentinel, 0, "", err)
		}
		return err
	}
	// a service in place of sentinels may omit the epoch, and a user may not be allowed to read it
	epoch, _ := strconv.ParseInt(state.Val()["config-epoch"], 10, 64)
	m.record(sentinel, epoch, net.JoinHostPort(addr.Val()[0], addr.Val()[1]), nil)
	m.meet(ctx, others.Val())
	return nil
}

// meet watches newly named sentinels.
func (m *master) meet(ctx context.Context, others []map[string]string) {
	for _, other := range others {
		if other["ip"] == "" {
			continue
		}
		addr := net.JoinHostPort(other["ip"], other["port"])
		m.mu.Lock()
		_, known := m.answers[addr]
		known = known || slices.Contains(m.cfg.Addrs, addr)
		if !known {
			m.answers[addr] = answer{err: errors.New("not asked yet"), since: time.Now()}
		}
		m.mu.Unlock()
		if !known {
			m.watch(ctx, addr)
		}
	}
}
