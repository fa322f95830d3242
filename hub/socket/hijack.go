package socket

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
)

// Buffers of a socket. Clients send pongs and control frames, the library writes control frames only:
// both fit. A larger message is read in several goes.
const (
	readBuffer  = 256
	writeBuffer = 160
)

// hijacker hands the WebSocket library a connection with small buffers instead of the server's.
type hijacker struct {
	http.ResponseWriter
	wire *wire
}

// Hijack takes the connection over, with what the client may have sent already.
func (w hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	w.wire.attach(conn, bytes.Clone(early))
	w.wire.read = bufio.NewReaderSize(w.wire, readBuffer)
	return w.wire, bufio.NewReadWriter(w.wire.read, bufio.NewWriterSize(w.wire, writeBuffer)), nil
}

// WriteHeaderNow passes on what a framework's writer needs to be told before it can be hijacked.
func (w hijacker) WriteHeaderNow() {
	if f, ok := w.ResponseWriter.(interface{ WriteHeaderNow() }); ok {
		f.WriteHeaderNow()
	}
}

// canHijack reports whether the connection can be taken over at all.
func canHijack(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}
