// Package sentinel is a client of a Redis master that sentinels watch, and that goes with the master as soon
// as any of them names another one.
//
// A client that asks one sentinel alone stays with the old master for as long as that one does not know of a
// failover, while others already use the new one: what each of them is told then is true on one master only.
// Sentinels settle which of them knows best by the epoch of the failover, and so does this package:
// https://redis.io/docs/latest/develop/reference/sentinel-clients/ asks for no more than the first answer.
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

// Config says which master and who knows it.
type Config struct {
	Master             string        // its name
	Addrs              []string      // host:port of sentinels; they name the others
	Username, Password string        // of the sentinels; "" = none
	Options            redis.Options // of the connections to the master; Addr, Dialer and OnConnect are set here. Its TLS counts for the sentinels too
	Log                *slog.Logger  // nil = nobody is told that the master moved
}

// NewClient returns a client of the master, whichever it is. close also ends the client.
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

// dial connects to the master, also where it moves meanwhile. The connection is closed when the sentinels
// name another one.
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

// connect gives up when the master moves: one that is dead may not even refuse.
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

// isMaster refuses a server that is not what it was named: a replica may be behind.
func isMaster(ctx context.Context, cn *redis.Conn) error {
	role, err := cn.Do(ctx, "ROLE").Slice()
	if err == nil && len(role) > 0 && role[0] != "master" {
		return errReplica
	}
	return nil // who may not ask is told READONLY by a replica
}

// conn is a connection to the master that is known as long as it is open.
type conn struct {
	*net.TCPConn
	master *master
}

func (c *conn) Close() error {
	c.master.drop(c)
	return c.TCPConn.Close()
}
