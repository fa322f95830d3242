package web

import (
	"bufio"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/request"
)

// socketAgain is the retry delay of a client with too many sockets.
const socketAgain = 5 * time.Second

// socket is GET /api/{room}/ws. After the upgrade it writes nothing more here.
func (h *lockAPI) socket(c *gin.Context) {
	if h.Sockets == nil {
		h.Refuse(c, "not_found")
		return
	}
	if stripped(c.Request.Header) {
		h.deaf.note("a handshake without Upgrade")
	}
	session, err := h.socketSession(c)
	if err != nil && !forbids(c, err) {
		h.Fail(c, err)
		return
	}
	serve := func(w http.ResponseWriter) error {
		return h.Sockets.ServeSocket(w, c.Request, request.Room(c), session,
			request.Seller.Page(c.Request))
	}
	if err != nil { // a browser does not see why an upgrade was refused, and would retry
		serve = func(w http.ResponseWriter) error { return h.Sockets.ForbidSocket(w, c.Request) }
	}
	leave, ok := h.open.take(request.Network(h.proxies.Client(c)))
	if !ok {
		h.Fail(c, h.refusedFor(c, quota.Limited{Setting: socketsPerIP, After: socketAgain}))
		return
	}
	w := &counter{ResponseWriter: c.Writer, closed: leave}
	err = serve(w)
	if !w.taken {
		leave()
	}
	if err != nil && !c.Writer.Written() {
		h.Fail(c, err)
	}
}

// forbids reports whether a page's socket is refused because its browser now has another seller. A program
// gets an answer instead.
func forbids(c *gin.Context, err error) bool {
	byPage := inProtocol(c.Request.Header, protocolToken) != ""
	return errors.Is(err, errSellerChanged) || byPage && errors.Is(err, identity.ErrAnother)
}

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

// deaf warns at most once a minute that a proxy strips WebSocket upgrades. Pages poll then.
type deaf struct {
	log *slog.Logger

	mu    sync.Mutex
	at    time.Time
	count int // requests since the last line
}

func (d *deaf) note(sign string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	if time.Since(d.at) < noteEvery {
		return
	}
	d.log.Warn("no WebSocket comes through to a page, which asks every few seconds instead; have the proxy "+
		"speak HTTP/1.1 to waitroom and pass the headers Upgrade and Connection on, "+
		"for /api/{room}/ws (docs/proxies.md has nginx, Caddy, haproxy and Apache); where only single sellers are "+
		"concerned, it is their own network", "sign", sign, "count", d.count)
	d.at, d.count = time.Now(), 0
}

// fromBrowser reports whether a browser sent a request. Only a browser's poll is a sign that sockets are
// blocked: the Python client always polls.
func fromBrowser(h http.Header) bool { return strings.HasPrefix(h.Get("User-Agent"), "Mozilla/") }

// stripped reports whether a proxy removed the upgrade from a browser's socket request. Browsers always send
// these headers together.
func stripped(h http.Header) bool {
	return h.Get("Sec-WebSocket-Key") != "" && !strings.EqualFold(h.Get("Upgrade"), "websocket")
}
