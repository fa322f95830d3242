package lockredis

import (
	"context"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// interrupter runs each command of a client on a connection of its own, which it closes as soon as the
// command's context ends. The client itself looks at a context only between two attempts, and a goroutine
// that waits in its place more than doubles the time of a call: docs/decisions/0022-lock-connections.md.
type interrupter struct {
	options redis.Options
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	used    chan struct{} // has one for each connection in use; there are at most PoolSize

	mu     sync.Mutex
	free   []*connection // the last one is used next
	closed bool
}

// interruptible returns a client with the options of rdb whose commands end with their contexts. It returns
// nil for clients that find or change their server by themselves (Cluster, Ring and failover clients), and
// for those whose connections are limited or have to be notified of new passwords.
func interruptible(rdb redis.UniversalClient) (*redis.Client, *interrupter) {
	single, ok := rdb.(*redis.Client)
	if !ok {
		return nil, nil
	}
	of := single.Options()
	if of.Addr == failover || of.MaxActiveConns > 0 || of.StreamingCredentialsProvider != nil {
		return nil, nil
	}
	i := &interrupter{options: onOne(of), dial: of.Dialer, used: make(chan struct{}, of.PoolSize)}
	client := redis.NewClient(&i.options) // it opens no connection
	client.AddHook(i)
	return client, i
}

// failover is the Addr of go-redis's failover clients. These close the connections of their own pool when
// another master was chosen; connections of ours would stay with the old one.
const failover = "FailoverClient"

// smallBuffer holds a call of the engine and its answer (bytes).
const smallBuffer = 4 << 10

// onOne returns the options of a client with one connection. They are those of a client that exists, in which
// 0 stands for none; in options for a new one it stands for the default.
func onOne(of *redis.Options) redis.Options {
	o := *of
	o.PoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxConcurrentDials = 1, 0, 0, 0
	o.ReadBufferSize, o.WriteBufferSize = smallBuffer, smallBuffer
	o.ClientSideCache, o.ClientSideCacheConfig = nil, nil
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if o.MaxRetries == 0 {
		o.MaxRetries = -1
	}
	if o.MinRetryBackoff == 0 {
		o.MinRetryBackoff = -1
	}
	if o.MaxRetryBackoff == 0 {
		o.MaxRetryBackoff = -1
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout--
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout--
	}
	return o
}

// connection is a client with one connection.
type connection struct {
	client *redis.Client

	mu   sync.Mutex
	conn net.Conn // the last one that it opened
	cut  bool
}

func (i *interrupter) open() *connection {
	c := &connection{}
	options := i.options
	options.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := i.dial(ctx, network, addr)
		if err == nil && !c.keep(conn) {
			_ = conn.Close()
			err = net.ErrClosed
		}
		return conn, err
	}
	c.client = redis.NewClient(&options)
	return c
}

// keep returns false if the connection came too late.
func (c *connection) keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return !c.cut
}

// interrupt ends the command that runs, and all later ones.
func (c *connection) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// run calls f with a connection until ctx ends.
func (i *interrupter) run(ctx context.Context, f func(*redis.Client) error) error {
	select {
	case i.used <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	c := i.take()
	stop := context.AfterFunc(ctx, c.interrupt)
	err := f(c.client)
	i.put(c, stop())
	<-i.used
	return err
}

func (i *interrupter) take() *connection {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.free)
	if n == 0 {
		return i.open()
	}
	c := i.free[n-1]
	i.free = i.free[:n-1]
	return c
}

// put makes a connection free for the next call, unless it was interrupted or no more are kept.
func (i *interrupter) put(c *connection, whole bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if whole && !i.closed {
		i.free = append(i.free, c)
		return
	}
	_ = c.client.Close()
}

// close closes the connections that are free. Later calls open one each.
func (i *interrupter) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for _, c := range i.free {
		_ = c.client.Close()
	}
	i.free = nil
}

// DialHook implements redis.Hook.
func (i *interrupter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (i *interrupter) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := i.run(ctx, func(client *redis.Client) error { return client.Process(ctx, cmd) })
		if err != nil && cmd.Err() == nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A lock sends no pipelines.
func (i *interrupter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
