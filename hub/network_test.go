package hub_test

import (
	"net"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// network is a connection between clients and a replica that can be held up. While it is dead it holds all
// traffic and closes nothing; afterwards it delivers what was sent meanwhile.
type network struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	moved *sync.Cond
	dead  bool
	ended bool
	conns []net.Conn
}

func (r *replica) network() *network {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(r.t, err)
	n := &network{target: strings.TrimPrefix(r.URL, "ws://"), listener: listener}
	n.moved = sync.NewCond(&n.mu)
	n.running.Go(n.accept)
	r.t.Cleanup(n.end)
	return n
}

// through returns the same replica behind a network.
func (r *replica) through(n *network) *replica {
	behind := *r
	behind.URL = "ws://" + n.listener.Addr().String()
	return &behind
}

func (n *network) setDead(dead bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead = dead
	n.moved.Broadcast()
}

func (n *network) end() {
	_ = n.listener.Close()
	n.mu.Lock()
	n.dead, n.ended = false, true
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.moved.Broadcast()
	n.mu.Unlock()
	n.running.Wait()
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", n.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		n.running.Go(func() { n.forward(client, server) })
		n.running.Go(func() { n.forward(server, client) })
	}
}

func (n *network) forward(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	if !n.keep(from) {
		return
	}
	buf := make([]byte, 4096)
	for {
		size, err := from.Read(buf)
		if !n.pass() || err != nil {
			return
		}
		if _, err := to.Write(buf[:size]); err != nil {
			return
		}
	}
}

func (n *network) keep(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		_ = c.Close()
	}
	n.conns = append(n.conns, c)
	return !n.ended
}

// pass waits until the network is alive; it returns false once the test has ended.
func (n *network) pass() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.dead {
		n.moved.Wait()
	}
	return !n.ended
}
