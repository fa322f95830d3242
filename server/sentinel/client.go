// Package sentinel is a client of a Redis master behind sentinels. It moves to a new master as soon as any
// sentinel names one.
//
// A client of one sentinel stays with the old master until that sentinel learns of a failover, while other
// clients already use the new one. Writes acknowledged by the old master are then lost. Sentinels resolve
// this by the failover's epoch, and so does this package:
// https://redis.io/docs/latest/develop/reference/sentinel-clients/ requires only the first answer.
package sentinel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/server/dialer"
)

// Config names the master and its sentinels.
type Config struct {
	Master             string   // its name
	Addrs              []string // host:port of sentinels; they name the others
	Username, Password string   // of the sentinels; "" = none
	// options of the connections to the master; Addr, Dialer and OnConnect are set here. TLS is also used for
	// sentinels
	Options redis.Options
	Log     *slog.Logger // nil = a move of the master is not logged
}

// NewClient returns a client of the current master. Close also ends the client.
func NewClient(c Config) (client *redis.Client, close func()) {
	client, _, close = open(c)
	return client, close
}

func open(c Config) (client *redis.Client, m *master, close func()) {
	ctx, cancel := context.WithCancel(context.Background())
	m = newMaster(c)
	for _, addr := range m.cfg.Addrs {
		m.watch(ctx, addr)
	}
	o := c.Options
	o.Addr, o.Dialer, o.OnConnect = c.Master, dialer.Eager(m.dial), isMaster
	client = redis.NewClient(&o)
	return client, m, func() {
		cancel()
		_ = client.Close()
		m.work.Wait()
	}
}

var errMoved = errors.New("the master moved while it was dialed")

// dial connects to the master, even while it moves. The connection is closed once the sentinels name another
// one.
func (m *master) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	for {
		addr, moved, err := m.where(ctx)
		if err != nil {
			return nil, err
		}
		c, err := m.connect(ctx, addr, moved)
		if err == nil {
			return c, nil
		}
		select {
		case <-moved:
		default:
			return nil, fmt.Errorf("master %s: %w", m.cfg.Master, err)
		}
	}
}

// connect stops when the master moves: a dead one may not even refuse.
func (m *master) connect(ctx context.Context, addr string, moved <-chan struct{}) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-moved:
			cancel()
		case <-ctx.Done():
		}
	}()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: raw.(*net.TCPConn), master: m}
	if !m.hold(c, addr) {
		_ = raw.Close()
		return nil, errMoved
	}
	if m.cfg.Options.TLSConfig == nil {
		return c, nil
	}
	config := m.cfg.Options.TLSConfig.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secure := tls.Client(c, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return secure, nil
}

var errReplica = errors.New("the sentinels name a server as master that is a replica")

// isMaster refuses a server that is not a master: a replica may lag.
func isMaster(ctx context.Context, cn *redis.Conn) error {
	role, err := cn.Do(ctx, "ROLE").Slice()
	if err == nil && len(role) > 0 && role[0] != "master" {
		return errReplica
	}
	return nil // without that permission, a replica answers READONLY
}

// conn is an open connection that the master tracks.
type conn struct {
	*net.TCPConn
	master *master
}

func (c *conn) Close() error {
	c.master.drop(c)
	return c.TCPConn.Close()
}
