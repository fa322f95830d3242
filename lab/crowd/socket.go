package crowd

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

const (
	readBuffer   = 512 // holds a whole state frame
	longestFrame = 64 << 10
	opText       = 1
	opClose      = 8
	opPing       = 9
	frameTimeout = 10 * time.Second // from a frame's first byte to its last
)

// ErrTimeout reports that nothing arrived before the deadline; the socket can still be used.
var ErrTimeout = errors.New("nothing came in time")

// CloseError reports that the server closed the socket.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string { return fmt.Sprintf("closed with %d %s", e.Code, e.Reason) }

// Again reports whether the contract tells the client to reconnect: codes 1001, 1012 and 4000–4499.
func (e *CloseError) Again() bool {
	return e.Code == 1001 || e.Code == 1012 || e.Code >= 4000 && e.Code < 4500
}

// Socket is a WebSocket client with a quarter of the memory of a library's: it reads frames with one small
// buffer and has no goroutine. Only one goroutine may use it, except for Interrupt and Close.
type Socket struct {
	net.Conn
	r    *bufio.Reader
	long []byte // of the last frame that was longer than the buffer
	skip int    // bytes of the last frame, still in the buffer
}

// Dialer opens sockets; by default to this machine only.
type Dialer struct {
	// Anywhere allows addresses outside this machine's loopback.
	Anywhere bool
}

// Dial opens a room's socket; session "" is a spectator. base is http:// or https://.
func (d Dialer) Dial(ctx context.Context, base, room, session string) (*Socket, error) {
	return d.Open(ctx, base, "/api/"+room+"/ws", session)
}

// Open opens a socket at any path, also of another server than waitroom.
func (d Dialer) Open(ctx context.Context, base, path, session string) (*Socket, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, u)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	s := &Socket{Conn: conn, r: bufio.NewReaderSize(conn, readBuffer)}
	if err := s.upgrade(u.Host, path, session); err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return s, nil
}

func (d Dialer) connect(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	dialer := d.net()
	if u.Scheme == "https" {
		return (&tls.Dialer{NetDialer: dialer, Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext(ctx,
			"tcp", addr)
	}
	return dialer.DialContext(ctx, "tcp", addr)
}

// StatusError is an upgrade that was refused.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return fmt.Sprintf("upgrade refused: %d", e.Status) }

func (s *Socket) upgrade(host, path, session string) error {
	request := "GET " + path + " HTTP/1.1\r\nHost: " + host +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	if session != "" {
		request += "X-Session-ID: " + session + "\r\n"
	}
	if _, err := io.WriteString(s.Conn, request+"\r\n"); err != nil {
		return err
	}
	status, err := s.answer()
	if err == nil && status != http.StatusSwitchingProtocols {
		err = &StatusError{status}
	}
	return err
}

// answer reads the head of an HTTP answer and returns its status.
func (s *Socket) answer() (status int, err error) {
	line, _, err := s.r.ReadLine()
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 101") {
		return 0, fmt.Errorf("not an answer: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, fmt.Errorf("not an answer: %q", line)
	}
	for part := false; ; { // a long line comes in several, of which the last may be empty
		rest := part
		if line, part, err = s.r.ReadLine(); err != nil || len(line) == 0 && !rest {
			return status, err
		}
	}
}

// Read returns the next text frame, which is valid until the next Read. It answers WebSocket pings. At the
// deadline (zero = none) it returns ErrTimeout, and at a close a *CloseError.
func (s *Socket) Read(deadline time.Time) ([]byte, error) {
	for {
		op, text, err := s.frame(deadline)
		switch {
		case err != nil:
			return nil, err
		case op == opText:
			return text, nil
		case op == opPing:
			if err := s.write(opPing+1, text); err != nil {
				return nil, err
			}
		case op == opClose:
			e := &CloseError{Code: 1005}
			if len(text) >= 2 {
				e.Code, e.Reason = int(binary.BigEndian.Uint16(text)), string(text[2:])
			}
			_ = s.write(opClose, text[:min(2, len(text))])
			return nil, e
		}
	}
}

func (s *Socket) frame(deadline time.Time) (op byte, payload []byte, err error) {
	_, _ = s.r.Discard(s.skip)
	s.skip = 0
	if s.r.Buffered() < 2 {
		_ = s.SetReadDeadline(deadline)
	}
	head, err := s.r.Peek(2) // what came of it stays, when the time is over
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ErrTimeout
		}
		return 0, nil, err
	}
	op, length := head[0]&0xf, int(head[1])
	header := 2
	if head[0]&0x80 == 0 || length > 126 {
		return 0, nil, errors.New("a frame that is in pieces, masked or too long")
	}
	_ = s.SetReadDeadline(time.Now().Add(frameTimeout))
	if length == 126 {
		header = 4
		if head, err = s.r.Peek(4); err != nil {
			return 0, nil, err
		}
		length = int(binary.BigEndian.Uint16(head[2:]))
	}
	if header+length <= readBuffer {
		text, err := s.r.Peek(header + length)
		if err != nil {
			return 0, nil, err
		}
		s.skip = header + length
		return op, text[header:], nil
	}
	if length > longestFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", length)
	}
	_, _ = s.r.Discard(header)
	s.long = make([]byte, length)
	_, err = io.ReadFull(s.r, s.long)
	return op, s.long, err
}

var pong = []byte(`{"type":"pong"}`)

// Pong answers the contract's ping message.
func (s *Socket) Pong() error { return s.write(opText, pong) }

// Send sends a short text.
func (s *Socket) Send(text string) error { return s.write(opText, []byte(text)) }

// write sends a small frame. Its mask is zero, which the protocol allows.
func (s *Socket) write(op byte, payload []byte) error {
	if len(payload) > 125 {
		payload = payload[:125]
	}
	frame := append(make([]byte, 0, 6+len(payload)), 0x80|op, 0x80|byte(len(payload)), 0, 0, 0, 0)
	_ = s.SetWriteDeadline(time.Now().Add(frameTimeout))
	_, err := s.Conn.Write(append(frame, payload...))
	return err
}

// Interrupt ends a Read in progress with ErrTimeout.
func (s *Socket) Interrupt() { _ = s.SetReadDeadline(time.Unix(1, 0)) }
