package socket

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strings"
)

// Buffers of a socket. Clients send pongs and control frames, the library writes control frames only:
// both fit. A larger message is read in several goes.
const (
	readBuffer  = 256
	writeBuffer = 160
)

// hijacker gives the WebSocket library a connection with small buffers instead of the server's, and holds the
// answer to the upgrade back until the first frame.
type hijacker struct {
	http.ResponseWriter
	wire *wire
}

// WriteHeader writes nothing for the status that switches protocols, since hold keeps that answer for later.
// A writer with WriteHeaderNow only notes a status, and so gets this one too.
func (w hijacker) WriteHeader(status int) {
	_, notes := w.ResponseWriter.(interface{ WriteHeaderNow() })
	if status != http.StatusSwitchingProtocols || notes {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Hijack takes the connection over, with the bytes that the client may have sent already.
func (w hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	w.wire.attach(conn, bytes.Clone(early))
	w.wire.hold(switching(w.Header()))
	w.wire.read = bufio.NewReaderSize(w.wire, readBuffer)
	return w.wire, bufio.NewReadWriter(w.wire.read, bufio.NewWriterSize(w.wire, writeBuffer)), nil
}

// switching returns the answer to an upgrade. http.Header.Write sorts, which costs too much for thousands at
// once.
func switching(header http.Header) []byte {
	b := append(make([]byte, 0, 1<<10), "HTTP/1.1 101 Switching Protocols\r\n"...)
	for name, values := range header {
		for _, value := range values {
			if !strings.ContainsAny(value, "\r\n") {
				b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
			}
		}
	}
	return append(b, "\r\n"...)
}

// canHijack reports whether the connection can be taken over.
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
