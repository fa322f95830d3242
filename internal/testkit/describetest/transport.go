package describetest

import (
	"encoding/binary"
	"io"
	"net/http"
	"testing"
)

// Transport sends as next does, and fails the test at its end where a socket received a frame
// that is not as described.
func (r *Recorder) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &transport{r, found(t), next}
}

type transport struct {
	recorder *Recorder
	faults   *faults
	next     http.RoundTripper
}

func (t *transport) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(q)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	if stream, ok := resp.Body.(io.ReadWriteCloser); ok {
		resp.Body = &listener{ReadWriteCloser: stream, received: func(text []byte) {
			t.faults.add(t.recorder.Frame(q.URL.Path, text))
		}}
	}
	return resp, nil
}

// CloseIdleConnections passes on to next.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// listener reads a copy of the server's frames on a WebSocket. Frames of a server are not masked; ours are
// neither compressed nor in parts.
type listener struct {
	io.ReadWriteCloser
	received func([]byte)
	rest     []byte
}

const opText = 1

func (l *listener) Read(p []byte) (int, error) {
	n, err := l.ReadWriteCloser.Read(p)
	l.rest = append(l.rest, p[:n]...)
	for {
		op, payload, size := frame(l.rest)
		if size == 0 {
			return n, err
		}
		if op == opText {
			l.received(payload)
		}
		l.rest = l.rest[size:]
	}
}

// frame returns the first frame of the bytes read, and its size; 0 if it is not whole.
func frame(b []byte) (op byte, payload []byte, size int) {
	if len(b) < 2 {
		return 0, nil, 0
	}
	head, n := 2, int(b[1]&0x7f)
	switch n {
	case 126:
		head = 4
	case 127:
		head = 10
	}
	if len(b) < head {
		return 0, nil, 0
	}
	switch head {
	case 4:
		n = int(binary.BigEndian.Uint16(b[2:]))
	case 10:
		n = int(binary.BigEndian.Uint64(b[2:]))
	}
	if len(b) < head+n {
		return 0, nil, 0
	}
	return b[0] & 0x0f, b[head : head+n], head + n
}
