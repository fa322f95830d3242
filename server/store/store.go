package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/server/dialer"
	"github.com/waitroom/waitroom/server/sentinel"
)

// reloadAfter is how long a cluster's client uses the known masters before it asks again.
const reloadAfter = time.Second

// Store is an open client and the function that closes it. Callers check the client's type, since a cluster
// has several masters.
type Store struct {
	Client redis.UniversalClient
	Close  func()
}

// Open returns a client, and starts the server if it is embedded. It does not wait for a connection.
func (u URL) Open(log *slog.Logger) (Store, error) {
	switch u.kind {
	case "single":
		o := *u.single // the client fills in its options
		if u.reread != nil {
			o.CredentialsProviderContext = u.credentials
		}
		o.Dialer = dialer.Eager(redis.NewDialer(u.single))
		return openedOf(redis.NewClient(&o)), nil
	case "sentinel":
		o := *u.many.Simple()
		if u.reread != nil {
			o.CredentialsProviderContext = u.credentials
		}
		c, closeAll := sentinel.NewClient(sentinel.Config{Master: u.many.MasterName, Addrs: u.many.Addrs,
			Options:  o,
			Username: u.many.SentinelUsername, Password: u.many.SentinelPassword, Log: log})
		return Store{c, closeAll}, nil
	case "cluster":
		o := u.many.Cluster()
		if u.reread != nil {
			o.CredentialsProviderContext = u.credentials
		}
		o.Dialer = dialer.Eager(redis.NewDialer(u.many.Simple()))
		// a master that does not answer does not make the client reload, so it reloads by time
		o.ClusterStateReloadInterval = reloadAfter
		return openedOf(redis.NewClusterClient(o)), nil
	}
	return embed()
}

func openedOf(c redis.UniversalClient) Store {
	return Store{c, func() { _ = c.Close() }}
}

// embed starts the store in this process. The whole machine can reach its port, so it has a password.
func embed() (Store, error) {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	password := rand.Text()
	m.RequireAuth(password)
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return Store{}, fmt.Errorf("start embedded store: %w", err)
	}
	o, err := parseSingle("redis://:" + password + "@" + m.Addr())
	if err != nil {
		m.Close()
		return Store{}, err
	}
	c := redis.NewClient(o.single)
	return Store{c, func() { _ = c.Close(); m.Close() }}, nil
}

// startWithin is how long a starting server waits for the store.
const startWithin = 5 * time.Second

// Await returns when the store answers. Its error wraps that of the last try.
func Await(ctx context.Context, s Store, where URL) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := s.Client.Ping(ctx).Err()
		if err == nil {
			if err = where.Suits(ctx, s.Client); err != nil {
				return fmt.Errorf("WAITROOM_REDIS_URL (--redis-url): %s: %w", where, err)
			}
			return nil
		}
		if late, ok := errors.AsType[net.Error](err); last == nil || ctx.Err() == nil && !(ok && late.Timeout()) {
			last = err // an answer says more than silence
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("WAITROOM_REDIS_URL (--redis-url): %s does not answer: %w. %s", where, last,
				where.Remedy(last))
		}
	}
}

// LogTo writes the Redis client's own messages, which it has for the whole process, into a log.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, args...))
}
