package web

import (
	"bufio"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/gin-gonic/gin"
)

// openSockets counts the open sockets of each client address; nil counts nothing.
type openSockets struct {
	most int

	mu   sync.Mutex
	open map[netip.Addr]int
}

// newOpenSockets returns nil without a limit.
func newOpenSockets(most int) *openSockets {
	if most == 0 {
		return nil
	}
	return &openSockets{most: most, open: make(map[netip.Addr]int)}
}

// take counts one socket until leave is called. It returns ok false at the limit.
func (o *openSockets) take(from netip.Addr) (leave func(), ok bool) {
	if o == nil {
		return func() {}, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[from] >= o.most {
		return nil, false
	}
	o.open[from]++
	return sync.OnceFunc(func() { o.leave(from) }), true
}

func (o *openSockets) leave(from netip.Addr) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[from]--; o.open[from] == 0 {
		delete(o.open, from)
	}
}

// counter is a ResponseWriter whose hijacked connection reports its close. The handler returns long before.
type counter struct {
	gin.ResponseWriter
	closed func()
	taken  bool
}

// Hijack takes over the connection and counts it.
func (w *counter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.taken = true
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &countedTCP{tcp, w.closed}, buffered, nil
	}
	return &counted{conn, w.closed}, buffered, nil
}

// countedTCP keeps the methods of a TCP connection.
type countedTCP struct {
	*net.TCPConn
	closed func()
}

// Close closes the connection and stops counting it.
func (c *countedTCP) Close() error {
	defer c.closed()
	return c.TCPConn.Close()
}

type counted struct {
	net.Conn
	closed func()
}

// Close closes the connection and stops counting it.
func (c *counted) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
