package hub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// masterCheck is how often a cluster's masters are listed anew.
const masterCheck = 5 * time.Second

// keyspace listens to what Redis says about the lock keys: a hand that deletes one is noticed at once.
// It is an accelerator: without it the timers and the sweep do the same, later. On a cluster each
// master only speaks of its own keys, so each has a connection.
type keyspace struct {
	h        *Hub
	db       int
	channels *channels
	refused  sync.Once

	mu      sync.Mutex
	closed  bool
	sources map[string]*redis.PubSub // by address; one entry "" where there is no cluster
}

func newKeyspace(h *Hub) *keyspace {
	k := &keyspace{h: h, channels: newChannels(), sources: make(map[string]*redis.PubSub)}
	if c, ok := h.cfg.Redis.(*redis.Client); ok {
		k.db = c.Options().DB
	}
	return k
}

func (k *keyspace) channel(id room.ID) string {
	return "__keyspace@" + strconv.Itoa(k.db) + "__:" + room.LockKey(id)
}

func (k *keyspace) add(id room.ID)    { k.channels.add(k.channel(id)) }
func (k *keyspace) remove(id room.ID) { k.channels.remove(k.channel(id)) }

// subscribe carries out what add and remove asked for, on every connection.
func (k *keyspace) subscribe(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.channels.kick:
		}
		on, off := k.channels.next()
		k.mu.Lock()
		sources := slices.Collect(maps.Values(k.sources))
		k.mu.Unlock()
		for _, ps := range sources {
			if len(off) > 0 {
				_ = ps.Unsubscribe(ctx, off...)
			}
			if len(on) > 0 {
				_ = ps.Subscribe(ctx, on...)
			}
		}
	}
}

func (k *keyspace) run(ctx context.Context) {
	k.h.spawn(k.enable)
	cluster, ok := k.h.cfg.Redis.(*redis.ClusterClient)
	if !ok {
		k.listen(ctx, "", k.h.cfg.Redis)
		return
	}
	for {
		k.listenAll(ctx, cluster)
		if !pause(ctx, masterCheck) {
			return
		}
	}
}

// listenAll listens to every master, and no more to those that are none any more.
func (k *keyspace) listenAll(ctx context.Context, cluster *redis.ClusterClient) {
	var mu sync.Mutex
	masters := make(map[string]bool)
	err := cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters[c.Options().Addr] = true
		k.listen(ctx, c.Options().Addr, c)
		return nil
	})
	if err != nil {
		return // asked again in a moment
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for addr, ps := range k.sources {
		if !masters[addr] {
			delete(k.sources, addr)
			_ = ps.Close()
		}
	}
}

// listen opens a connection, unless there is one.
func (k *keyspace) listen(ctx context.Context, addr string, c interface {
	Subscribe(context.Context, ...string) *redis.PubSub
}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sources[addr] != nil || k.closed {
		return
	}
	ps := c.Subscribe(ctx)
	k.sources[addr] = ps
	k.channels.again()
	k.h.spawn(func(ctx context.Context) { k.receive(ctx, ps) })
}

func (k *keyspace) receive(ctx context.Context, ps *redis.PubSub) {
	wait := retryFirst
	for {
		msg, err := ps.Receive(ctx)
		if err != nil {
			if err == redis.ErrClosed || !pause(ctx, wait) {
				return
			}
			wait = min(2*wait, retryMost)
			continue
		}
		if wait > retryFirst { // another server may answer now, with settings of its own
			wait = retryFirst
			k.h.spawn(k.enable)
		}
		if m, ok := msg.(*redis.Message); ok {
			k.notified(m)
		}
	}
}

func (k *keyspace) notified(m *redis.Message) {
	_, key, ok := strings.Cut(m.Channel, "__:")
	if !ok {
		return
	}
	l := k.h.hall(roomOf(key))
	if l == nil {
		return
	}
	switch m.Payload {
	case "expired":
		k.h.spawn(l.expire)
	case "del":
		l.freed()
	}
}

func (k *keyspace) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, ps := range k.sources {
		_ = ps.Close()
	}
}

// configurer is a Redis server that may let itself be configured.
type configurer interface {
	ConfigGet(context.Context, string) *redis.MapStringStringCmd
	ConfigSet(ctx context.Context, name, value string) *redis.StatusCmd
}

// enable switches the notifications on where they are off. Managed servers refuse that, which is said
// once; one that can not be reached is asked again.
func (k *keyspace) enable(ctx context.Context) {
	if k.h.cfg.Unnotified {
		return
	}
	for {
		err := k.configure(ctx)
		var refused redis.Error
		switch {
		case err == nil:
			return
		case errors.As(err, &refused):
			k.refused.Do(func() {
				k.h.log.InfoContext(ctx, "no keyspace notifications: timers and the sweep do without", "reason", err)
			})
			return
		}
		if !pause(ctx, retryMost) {
			return
		}
	}
}

func (k *keyspace) configure(ctx context.Context) error {
	switch c := k.h.cfg.Redis.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return enable(ctx, c) })
	case configurer:
		return enable(ctx, c)
	}
	return nil
}

const notifyOption = "notify-keyspace-events"

func enable(ctx context.Context, c configurer) error {
	found, err := c.ConfigGet(ctx, notifyOption).Result()
	if err != nil {
		return fmt.Errorf("read %s: %w", notifyOption, err)
	}
	have := found[notifyOption]
	want := have
	for _, flag := range "Kgx" {
		if !strings.ContainsRune(want, flag) && (flag == 'K' || !strings.ContainsRune(want, 'A')) {
			want += string(flag)
		}
	}
	if want == have {
		return nil
	}
	if err := c.ConfigSet(ctx, notifyOption, want).Err(); err != nil {
		return fmt.Errorf("set %s: %w", notifyOption, err)
	}
	return nil
}
