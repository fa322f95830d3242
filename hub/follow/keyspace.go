package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// masterCheck is how often a cluster's list of masters is read again.
const masterCheck = 5 * time.Second

// Keyspace listens to Redis's notifications about the lock keys, so that a deletion by hand is noticed at
// once. Without it, timers and the sweep notice the same later. Each master of a cluster notifies only about
// its own keys, so each has a connection.
type Keyspace struct {
	cfg      Config
	keys     LockKeys
	channels *Channels
	refused  sync.Once

	mu      sync.Mutex
	closed  bool
	sources map[string]*redis.PubSub // by address; one entry "" where there is no cluster
}

// LockKeys is called when a lock key has expired or was deleted.
type LockKeys interface {
	Expired(room.ID)
	Deleted(room.ID) // by a script of ours, or by hand
}

// NewKeyspace returns a listener; Run and CarryOut have to be started.
func NewKeyspace(cfg Config, keys LockKeys) *Keyspace {
	return &Keyspace{cfg: cfg, keys: keys, channels: newChannels(), sources: make(map[string]*redis.PubSub)}
}

// Add listens to a room's lock key.
func (k *Keyspace) Add(id room.ID) { k.channels.Add(k.cfg.Names.LockNotices(id)) }

// Remove stops listening to it.
func (k *Keyspace) Remove(id room.ID) { k.channels.Remove(k.cfg.Names.LockNotices(id)) }

// CarryOut subscribes and unsubscribes as Add and Remove require, on every connection. An error is a lost
// connection: go-redis knows the channels, and subscribes again when it has reconnected.
func (k *Keyspace) CarryOut(ctx context.Context) {
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

// Run opens the connection and turns the notifications on if Redis allows it. With a cluster it keeps a
// connection to each master until ctx ends.
func (k *Keyspace) Run(ctx context.Context) {
	k.cfg.Spawn(k.enable)
	cluster, ok := k.cfg.Redis.(*redis.ClusterClient)
	if !ok {
		k.listen(ctx, "", k.cfg.Redis)
		return
	}
	for {
		k.listenAll(ctx, cluster)
		if !Pause(ctx, masterCheck) {
			return
		}
	}
}

// listenAll listens to every master, and closes the connections to former masters.
func (k *Keyspace) listenAll(ctx context.Context, cluster *redis.ClusterClient) {
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
func (k *Keyspace) listen(ctx context.Context, addr string, c interface {
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
	k.cfg.Spawn(func(ctx context.Context) { k.receive(ctx, ps) })
}

func (k *Keyspace) receive(ctx context.Context, ps *redis.PubSub) {
	var wait Backoff
	for {
		msg, err := ps.Receive(ctx)
		if err != nil {
			if err == redis.ErrClosed || !wait.Wait(ctx) {
				return
			}
			continue
		}
		if wait.Reset() { // another server may answer now, with settings of its own
			k.cfg.Spawn(k.enable)
		}
		if m, ok := msg.(*redis.Message); ok {
			k.notified(m)
		}
	}
}

func (k *Keyspace) notified(m *redis.Message) {
	_, key, ok := strings.Cut(m.Channel, "__:")
	if !ok {
		return
	}
	switch m.Payload {
	case "expired":
		k.keys.Expired(k.cfg.Names.Room(key))
	case "del":
		k.keys.Deleted(k.cfg.Names.Room(key))
	}
}

// Close closes the connections for good.
func (k *Keyspace) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, ps := range k.sources {
		_ = ps.Close()
	}
}

// configurer is a Redis server that may allow CONFIG.
type configurer interface {
	ConfigGet(context.Context, string) *redis.MapStringStringCmd
	ConfigSet(ctx context.Context, name, value string) *redis.StatusCmd
}

// enable turns the notifications on if they are off. Managed servers refuse that, which is logged once; a
// server that cannot be reached is tried again.
func (k *Keyspace) enable(ctx context.Context) {
	if k.cfg.Unnotified {
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
				k.cfg.Log.InfoContext(ctx, "no keyspace notifications: timers and the sweep do without",
					"reason", err)
			})
			return
		}
		if !Pause(ctx, retryMost) {
			return
		}
	}
}

func (k *Keyspace) configure(ctx context.Context) error {
	switch c := k.cfg.Redis.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, func(ctx context.Context,
			c *redis.Client) error {
			return enable(ctx, c)
		})
	case configurer:
		return enable(ctx, c)
	}
	return nil
}

const notifyOption = "notify-keyspace-events"

// enable adds to a server's option what is missing of K (by key), g (such as del) and x (expired). A has both
// g and x.
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
