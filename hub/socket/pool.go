// Package socket keeps WebSockets: it takes connections over, reads them, pings them, and writes to them
// without ever waiting for one. It knows nothing of their contents: a socket with a frame due is marked, and
// its owner makes the frames at the moment of writing.
package socket

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config configures a Pool; there are no defaults.
type Config struct {
	// interval of a socket's pings. A socket is closed if nothing arrives for 0.4 of it after one, or if
	// the page leaves two unanswered
	PingEvery    time.Duration
	WriteTimeout time.Duration // a socket that takes nothing for as long is slow
	CloseGrace   time.Duration // how long a peer has to answer a close
	WriteBuffer  int           // a socket's kernel write buffer, bytes

	Start time.Time              // when the clock began by which sockets are heard of
	Ping  func(to []byte) []byte // appends a ping for the page, which it answers by {"type":"pong"}

	Metrics
}

// Metrics are a pool's metrics.
type Metrics struct {
	Pings, Probes prometheus.Counter // asked of the page, and of the browser alone
	Slow          prometheus.Counter // closed because they took nothing for too long
	Silent        prometheus.Counter // closed because they answered no ping
	Floods        prometheus.Counter // closed because they sent too much
}

// Owner makes the frames of a socket.
type Owner interface {
	// Serve writes the due frames to the socket, from the state of this moment. One writer calls it at a
	// time.
	Serve(w *Writer, due uint32)
}

// Pool has the sockets of one server: a queue of those that are due frames, and a wheel that pings all.
type Pool struct {
	cfg   Config
	queue *queue
	wheel *wheel
}

// New returns a pool; Write and Ping have to be started.
func New(cfg Config) *Pool {
	p := &Pool{cfg: cfg, queue: newQueue()}
	p.wheel = newWheel(p)
	return p
}

// now returns the time since Start, in ns.
func (p *Pool) now() int64 { return int64(time.Since(p.cfg.Start)) }

// Ping pings the sockets until ctx ends, each once per PingEvery.
func (p *Pool) Ping(ctx context.Context) { p.wheel.run(ctx) }

// Close ends Write.
func (p *Pool) Close() { p.queue.close() }
