package socket

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Close codes for a client's faults.
const (
	NotUTF8    = 1007
	TooBig     = 1009
	Slow       = 4002
	BadMessage = 4500
)

// Conn is one socket. It has one goroutine, which is in Run.
type Conn struct {
	wire
	ws    *websocket.Conn
	pool  *Pool
	owner Owner

	slot  int32         // in the wheel
	spot  int32         // index in the slot, by the slot's lock
	due   atomic.Uint32 // what is to be written; see queue
	pong  atomic.Int64  // when the page last answered, ns of the pool's clock
	asked atomic.Int64  // when the last ping of the wheel was written, likewise
}

// Protocol is the WebSocket subprotocol of the frames. A browser can send values of its own only as further
// subprotocols.
const Protocol = "waitroom"

// Accept takes over the connection of a request that Check allowed; it returns false if the connection broke
// meanwhile. After true the caller must not use the response; it calls Open, then Run, and in the end Leave.
func (p *Pool) Accept(w http.ResponseWriter, r *http.Request, c *Conn, owner Owner) bool {
	c.pool, c.owner, c.wire.c = p, owner, c
	ws, err := websocket.Accept(hijacker{w, &c.wire}, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Protocol}, // for clients that ask for it
		InsecureSkipVerify: true,               // checkOrigin is stricter
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     c.pinged,
		OnPongReceived:     c.ponged,
	})
	if err != nil {
		return false
	}
	ws.SetReadLimit(readLimit)
	c.ws = ws
	c.SetWriteBuffer(p.cfg.WriteBuffer)
	c.keepAlive()
	c.heard.Store(p.now())
	c.pong.Store(p.now())
	return true
}

// SetWriteBuffer sets how many bytes the kernel buffers for a peer that reads nothing.
func (c *Conn) SetWriteBuffer(bytes int) {
	if s, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = s.SetWriteBuffer(bytes)
	}
}

// Open starts the socket's regular pings.
func (c *Conn) Open() { c.pool.wheel.add(c) }

// Leave closes the connection and releases it.
func (c *Conn) Leave() {
	_ = c.ws.CloseNow()
	c.let()
	c.pool.wheel.remove(c)
}

// Heard returns when bytes were last read (ns of the pool's clock).
func (c *Conn) Heard() int64 { return c.heard.Load() }

// Lost reports whether the connection ended because the other side was silent.
func (c *Conn) Lost() bool { return c.lost.Load() }

// Closed reports whether nothing more will be sent.
func (c *Conn) Closed() bool { return c.isClosed() }

// Probe sends the browser a WebSocket ping, ahead of other sockets.
func (c *Conn) Probe() { c.Mark(dueProbe, true) }

// Ping sends the page a ping, before its regular turn.
func (c *Conn) Ping() { c.Mark(duePing, false) }

// Shut sends a close frame, after which nothing else is sent. Run ends when the peer has answered or the
// grace is over.
func (c *Conn) Shut(code int, reason string) {
	nb := nonblockingWrites.Get().(*nonblockingWrite)
	defer nonblockingWrites.Put(nb)
	_ = c.SetReadDeadline(time.Now().Add(c.pool.cfg.CloseGrace))
	if c.send(nb, closeFrame(code, reason), 0) == blocked {
		c.Kill()
	}
}

// Kill closes the connection at once; Run ends.
func (c *Conn) Kill() { _ = c.Conn.Close() }

// broken handles a socket that accepts no more bytes.
func (c *Conn) broken(slow bool) {
	if slow {
		c.pool.cfg.Slow.Inc()
	}
	c.Kill()
}
