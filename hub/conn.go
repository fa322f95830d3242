package hub

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// Close codes of the contract. 4000–4499 say: come back; 4500 and up: do not.
const (
	codeNotUTF8    = 1007
	codeTooBig     = 1009
	codeDraining   = 4001
	codeSlow       = 4002
	codeBadMessage = 4500
	codeSignedOut  = 4501
)

const (
	readLimit = 4 << 10
	// drainLimit is how much a peer may still send after it was told to close.
	drainLimit = 1 << 20
)

// conn is one socket. It has one goroutine, its reader.
type conn struct {
	wire
	h  *Hub
	ws *websocket.Conn

	hall    *hall    // nil where it shows all rooms
	session *session // nil for a spectator, and for support
	desk    *desk    // nil for sellers
	at      int      // index in hall.conns, by the hall's lock
	slot    int      // in the wheel
	spot    int      // index in the slot, by the slot's lock

	due   atomic.Uint32 // what is to be written; see queue
	pong  atomic.Int64  // when the page last answered, ns of the hub's clock
	asked atomic.Int64  // when the last ping of the wheel was written, likewise

	// The writer's own: whoever has claimed the conn.
	shown    mirror.Shown
	messages uint32 // number of the last message sent
	noticed  uint32 // and of the last notice
	lease    int64
	opened   bool // the first state was sent
}

// ServeSocket turns a request into a socket of a room and returns; session "" is a spectator. The
// session comes from room.ParseSession and the room from room.ParseID. An error means that nothing
// was written: ErrOrigin, ErrNotUpgrade, ErrDraining or room.ErrStore. After a nil error the response
// is not to be touched.
func (h *Hub) ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session string) error {
	c, err := h.accept(w, r, h.cfg.Origins)
	if err != nil || c == nil {
		return err
	}
	h.sockets.Add(1)
	h.metrics.sockets.Inc()
	for !h.open(id).enter(c, session) {
	}
	h.run(c)
	return nil
}

// accept takes the connection over; nil where it broke meanwhile: there is nobody to tell.
func (h *Hub) accept(w http.ResponseWriter, r *http.Request, origins []string) (*conn, error) {
	if err := checkOrigin(r, origins); err != nil {
		return nil, err
	}
	if err := checkUpgrade(w, r); err != nil {
		return nil, err
	}
	if h.draining.Load() {
		return nil, ErrDraining
	}
	if h.sub.lost() {
		return nil, fmt.Errorf("%w: %w", room.ErrStore, errStale)
	}
	c := &conn{h: h}
	c.owner = c
	ws, err := websocket.Accept(hijacker{w, &c.wire}, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // checkOrigin is stricter
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     c.pinged,
		OnPongReceived:     c.ponged,
	})
	if err != nil {
		return nil, nil
	}
	ws.SetReadLimit(readLimit)
	c.ws = ws
	if s, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = s.SetWriteBuffer(h.cfg.WriteBuffer)
	}
	c.keepAlive()
	c.heard.Store(h.now())
	c.pong.Store(h.now())
	return c, nil
}

// run has the socket's goroutine run.
func (h *Hub) run(c *conn) {
	h.wheel.add(c)
	if !h.spawn(c.read) {
		c.left()
	}
}

// read is the socket's goroutine.
func (c *conn) read(ctx context.Context) {
	defer c.left()
	if h := c.h; h.draining.Load() {
		c.shut(codeDraining, "draining")
	}
	var buf [64]byte
	for {
		code, reason, err := c.message(buf[:])
		switch {
		case c.flooded:
			c.h.metrics.floods.Inc()
			c.shut(codeBadMessage, "bad_message")
			c.discard()
			return
		case err != nil && code == codeTooBig:
			c.discard()
			return
		case err != nil:
			c.ended(err)
			return
		case code == 0:
			c.pong.Store(c.h.now())
			c.answered()
		default:
			c.shut(code, reason)
		}
	}
}

// message reads one message; code 0 is a pong, another one says how to close.
func (c *conn) message(buf []byte) (code int, reason string, err error) {
	typ, r, err := c.ws.Reader(context.Background())
	if err != nil {
		return 0, "", err
	}
	n, err := io.ReadFull(r, buf)
	text := buf[:n]
	if err == nil { // longer than any pong: read it all, to tell what is wrong with it
		more, failed := io.ReadAll(r)
		text, err = append(bytes.Clone(text), more...), failed
	}
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return codeTooBig, "", err
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return 0, "", err
	case typ == websocket.MessageText && !utf8.Valid(text):
		return codeNotUTF8, "not UTF-8", nil
	case typ == websocket.MessageText && isPong(text):
		return 0, "", nil
	}
	return codeBadMessage, "bad_message", nil
}

func isPong(text []byte) bool {
	if string(text) == `{"type":"pong"}` {
		return true
	}
	var m struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(text, &m) == nil && m.Type == "pong"
}

// discard lets a peer that was told to close read that, before the connection goes: what it still sends is read and not looked at.
func (c *conn) discard() {
	_ = c.SetReadDeadline(time.Now().Add(c.h.cfg.CloseGrace))
	_, _ = io.CopyN(io.Discard, c.Conn, drainLimit)
}

// shut sends a close frame, after which nothing else is sent. The reader ends when the peer has
// answered or the grace is over.
func (c *conn) shut(code int, reason string) {
	pen := pens.Get().(*pen)
	defer pens.Put(pen)
	_ = c.SetReadDeadline(time.Now().Add(c.h.cfg.CloseGrace))
	if c.send(pen, closeFrame(code, reason), 0) == blocked {
		c.kill()
	}
}

// closeFrame is a whole frame; reason has at most 123 bytes.
func closeFrame(code int, reason string) []byte {
	b := append(make([]byte, 0, 4+len(reason)), opClose, byte(2+len(reason)))
	return append(binary.BigEndian.AppendUint16(b, uint16(code)), reason...)
}

// kill closes the connection at once; the reader ends.
func (c *conn) kill() { _ = c.Conn.Close() }

// broken says that the socket takes nothing any more.
func (c *conn) broken(slow bool) {
	if slow {
		c.h.metrics.slow.Inc()
	}
	c.kill()
}

// left takes the socket out of everything.
func (c *conn) left() {
	_ = c.ws.CloseNow()
	c.h.wheel.remove(c)
	if c.desk != nil {
		c.deskLeft()
		return
	}
	c.hall.leave(c)
	c.h.sockets.Add(-1)
	c.h.metrics.sockets.Dec()
}
