package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const (
	readLimit = 4 << 10
	// drainLimit is how much a peer may still send after a close frame to it.
	drainLimit = 1 << 20
)

// Run reads until the connection has ended. It is the socket's only goroutine.
func (c *Conn) Run() {
	for {
		code, reason, err := c.next()
		switch {
		case c.flooded:
			c.pool.cfg.Floods.Inc()
			c.Shut(BadMessage, "bad_message")
			c.discard()
			return
		case err != nil && code == TooBig:
			c.discard()
			return
		case err != nil:
			c.ended(err)
			return
		case code == 0:
			c.pageAnswered()
		default:
			c.Shut(code, reason)
		}
	}
}

// next waits for a message that is not a plain answer to a ping, and reads it. Almost all messages are such
// answers, and reading one by the library would grow the goroutine's stack for good.
func (c *Conn) next() (code int, reason string, err error) {
	for {
		switch plain, err := c.plainAnswer(); {
		case err != nil || c.flooded:
			return 0, "", err
		case !plain:
			return c.message()
		}
	}
}

// plainAnswer reads a browser's or a page's answer to a ping if the next bytes are one in full.
func (c *Conn) plainAnswer() (bool, error) {
	head, err := c.read.Peek(2)
	if err != nil {
		return false, err
	}
	switch [2]byte(head) {
	case browserPong:
		if c.read.Buffered() < maskedHeader {
			return false, nil
		}
		_, _ = c.read.Discard(maskedHeader) // which is there
		c.answered()
		return true, nil
	case pagePong:
		frame, _ := c.read.Peek(min(maskedHeader+len(pong), c.read.Buffered()))
		if !isPlainPong(frame) {
			return false, nil
		}
		_, _ = c.read.Discard(len(frame))
		c.pageAnswered()
		return true, nil
	}
	return false, nil
}

func (c *Conn) pageAnswered() {
	c.pong.Store(c.pool.now())
	c.answered()
}

// message reads one message; code 0 is a pong, any other code is the one to close with.
func (c *Conn) message() (code int, reason string, err error) {
	var buf [64]byte
	typ, r, err := c.ws.Reader(context.Background())
	if err != nil {
		return 0, "", err
	}
	n, err := io.ReadFull(r, buf[:])
	text := buf[:n]
	if err == nil { // longer than any pong: read it all, to find its fault
		more, failed := io.ReadAll(r)
		text, err = append(bytes.Clone(text), more...), failed
	}
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return TooBig, "", err
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return 0, "", err
	case typ == websocket.MessageText && !utf8.Valid(text):
		return NotUTF8, "not UTF-8", nil
	case typ == websocket.MessageText && isPong(text):
		return 0, "", nil
	}
	return BadMessage, "bad_message", nil
}

func isPong(text []byte) bool {
	if string(text) == pong {
		return true
	}
	var m struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(text, &m) == nil && m.Type == "pong"
}

// discard lets a peer read the close frame before the connection closes: it reads the peer's data and drops
// it.
func (c *Conn) discard() {
	_ = c.SetReadDeadline(time.Now().Add(c.pool.cfg.CloseGrace))
	_, _ = io.CopyN(io.Discard, c.Conn, drainLimit)
}
