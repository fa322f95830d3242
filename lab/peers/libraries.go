package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

const (
	lease    = 30 * time.Second
	patience = 5 * time.Minute // none gives up within a cell
	forever  = 1 << 30         // tries
)

// replica is one process's access to the lock; take waits for it.
type replica interface {
	take(ctx context.Context, key string) (held, error)
	close()
}

// held is a lock that was taken. extend renews its lease; nil if the library does that by itself.
type held struct {
	release func()
	extend  func(context.Context) error
}

// library is one library in the comparison, with its settings.
type library struct {
	name string
	open func(addr string, count *commands) (replica, error)
}

func libraries() []library {
	return []library{
		{"**waitroom/lock**", openOurs},
		{"redsync, default (retry after 50–250 ms)", openRedsync()},
		{"redsync, tight (retry after 5 ms)", openRedsync(redsync.WithRetryDelay(5 * time.Millisecond))},
		{"redislock, linear 100 ms (as in its example)", openRedislock(100 * time.Millisecond)},
		{"redislock, tight (linear 5 ms)", openRedislock(5 * time.Millisecond)},
		{"rueidislock, default (majority of 3 keys)", openRueidislock(2)},
		{"rueidislock, one key, NOLOOP", openRueidislock(1)},
	}
}

func goRedis(addr string, count *commands) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, Dialer: count.dial})
}

type ours struct {
	rdb *redis.Client
	*lockredis.Locker
}

func openOurs(addr string, count *commands) (replica, error) {
	rdb := goRedis(addr, count)
	return &ours{rdb, lockredis.New(rdb, lockredis.Config{})}, nil
}

func (o *ours) take(ctx context.Context, key string) (held, error) {
	k, err := lock.NewKey("peers", key)
	if err != nil {
		return held{}, err
	}
	mine, err := o.TryLock(ctx, k, patience, lease)
	if err != nil {
		return held{}, err
	}
	return held{func() { _ = o.Unlock(context.Background(), mine) },
		func(ctx context.Context) error { return o.Extend(ctx, mine, lease) }}, nil
}

func (o *ours) close() {
	_ = o.Close()
	_ = o.rdb.Close()
}

type theirRedsync struct {
	rdb     *redis.Client
	rs      *redsync.Redsync
	options []redsync.Option
}

func openRedsync(options ...redsync.Option) func(string, *commands) (replica, error) {
	return func(addr string, count *commands) (replica, error) {
		rdb := goRedis(addr, count)
		options := append([]redsync.Option{redsync.WithExpiry(lease), redsync.WithTries(forever)}, options...)
		return &theirRedsync{rdb, redsync.New(goredis.NewPool(rdb)), options}, nil
	}
}

func (r *theirRedsync) take(ctx context.Context, key string) (held, error) {
	m := r.rs.NewMutex(key, r.options...)
	if err := m.LockContext(ctx); err != nil {
		return held{}, err
	}
	return held{func() { _, _ = m.UnlockContext(context.Background()) },
		func(ctx context.Context) error { _, err := m.ExtendContext(ctx); return err }}, nil
}

func (r *theirRedsync) close() { _ = r.rdb.Close() }

type theirRedislock struct {
	rdb     *redis.Client
	locks   *redislock.Client
	backoff time.Duration
}

func openRedislock(backoff time.Duration) func(string, *commands) (replica, error) {
	return func(addr string, count *commands) (replica, error) {
		rdb := goRedis(addr, count)
		return &theirRedislock{rdb, redislock.New(rdb), backoff}, nil
	}
}

func (r *theirRedislock) take(ctx context.Context, key string) (held, error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // without a deadline it waits for one lease only
	defer cancel()
	mine, err := r.locks.Obtain(ctx, key, lease,
		&redislock.Options{RetryStrategy: redislock.LinearBackoff(r.backoff)})
	if err != nil {
		return held{}, err
	}
	return held{func() { _ = mine.Release(context.Background()) },
		func(ctx context.Context) error { return mine.Refresh(ctx, lease, nil) }}, nil
}

func (r *theirRedislock) close() { _ = r.rdb.Close() }

type theirRueidislock struct{ rueidislock.Locker }

func openRueidislock(majority int32) func(string, *commands) (replica, error) {
	return func(addr string, count *commands) (replica, error) {
		l, err := rueidislock.NewLocker(rueidislock.LockerOption{
			ClientOption: rueidis.ClientOption{
				InitAddress: []string{addr},
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return count.dial(ctx, "tcp", addr)
				},
			},
			KeyMajority: majority, KeyValidity: lease, NoLoopTracking: majority == 1,
		})
		if err != nil {
			return nil, err
		}
		return &theirRueidislock{l}, nil
	}
}

func (r *theirRueidislock) take(ctx context.Context, key string) (held, error) {
	_, release, err := r.WithContext(ctx, key)
	return held{release: release}, err
}

func (r *theirRueidislock) close() { r.Close() }
