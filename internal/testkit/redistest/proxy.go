package redistest

import (
	"net"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Direction is a way through the proxy.
type Direction int

// The two ways through the proxy.
const (
	ToServer Direction = iota
	ToClient
)

// Proxy stands between clients and one server and fails as networks fail. Its methods may be
// called from any goroutine.
type Proxy struct {
	tb       testing.TB
	target   string
	listener net.Listener
	gates    [2]*gate
	running  sync.WaitGroup

	mu      sync.Mutex
	links   map[*link]struct{}
	refuse  bool
	closed  bool
	pending []*drop
}

// drop is one reply that will be lost.
type drop struct {
	match func(request []byte) bool
	done  chan struct{}
}

// StartProxy forwards to target (host:port) until the test ends.
func StartProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	p := &Proxy{tb: tb, target: target, listener: listener, links: map[*link]struct{}{},
		gates: [2]*gate{newGate(), newGate()}}
	p.running.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Proxy puts a proxy in front of this server.
func (s *Server) Proxy() *Proxy { return StartProxy(s.tb, s.Addr()) }

// Addr is host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL returns the REDIS_URL.
func (p *Proxy) URL() string { return "redis://" + p.Addr() }

// Client returns a new client that goes through the proxy; the end of the test closes it.
func (p *Proxy) Client() *redis.Client { return newClient(p.tb, p.Addr()) }

// DropNextReply loses the reply to the next request that matches; a nil match accepts every request.
//
// The server executes the request, the proxy drops the reply and cuts the connection, so that the client
// retries. Each call loses one reply. match gets the request's bytes, from one goroutine at a time. The
// returned channel is closed when the reply is lost.
func (p *Proxy) DropNextReply(match func(request []byte) bool) <-chan struct{} {
	if match == nil {
		match = func([]byte) bool { return true }
	}
	d := &drop{match: match, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, d)
	return d.done
}

// CutAll cuts every open connection; the proxy still accepts new ones.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Refuse makes the proxy reset new connections until Accept; open ones stay.
func (p *Proxy) Refuse() { p.setRefuse(true) }

// Accept ends Refuse.
func (p *Proxy) Accept() { p.setRefuse(false) }

// Blackhole holds all traffic in one direction, as a network does that loses packets: connections stay open.
// Heal delivers what was held to the connections that are still open.
func (p *Proxy) Blackhole(d Direction) { p.gates[d].shut() }

// Heal ends every Blackhole and Refuse.
func (p *Proxy) Heal() {
	p.Accept()
	for _, g := range p.gates {
		g.open()
	}
}

func (p *Proxy) setRefuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// take returns the drop that a request uses up; nil if its reply is to be forwarded.
func (p *Proxy) take(request []byte) *drop {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, d := range p.pending {
		if d.match(request) {
			p.pending = append(p.pending[:i:i], p.pending[i+1:]...)
			return d
		}
	}
	return nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // close closed it
		}
		p.running.Go(func() { p.serve(client.(*net.TCPConn)) })
	}
}

func (p *Proxy) serve(client *net.TCPConn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	l := newLink(p, client, server.(*net.TCPConn))
	if !p.add(l) {
		l.cut()
		return
	}
	l.run()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.closed {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.CutAll()
	p.running.Wait()
}

// reset closes with RST instead of FIN.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
