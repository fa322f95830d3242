package socket

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// handed is a response whose connection is a pipe: each Read at its other end returns one Write.
type handed struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (h handed) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// noting is a response that only records a status, as the writer of a web framework does.
type noting struct {
	handed
	status *int
}

func (n noting) WriteHeader(status int) { *n.status = status }

func (n noting) WriteHeaderNow() { panic("nothing is written before the connection is taken over") }

// overPipe returns an accepted socket and the client's end of its connection.
func overPipe(t *testing.T, wrap func(handed) http.ResponseWriter) (*Conn, net.Conn) {
	here, there := net.Pipe()
	t.Cleanup(func() { _ = there.Close() })
	r := httptest.NewRequest(http.MethodGet, "/ws", nil)
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "n", Help: "n"})
	p := New(Config{PingEvery: time.Minute, WriteTimeout: time.Minute, CloseGrace: time.Minute,
		Start: time.Now(), Metrics: Metrics{Slow: count}})
	w := handed{httptest.NewRecorder(), here}
	w.Header().Set("X-Request-ID", "r-1")
	c := new(Conn)
	require.True(t, p.Accept(wrap(w), r, c, nil))
	c.Open()
	t.Cleanup(c.Leave)
	return c, there
}

func plainly(w handed) http.ResponseWriter { return w }

func read(t *testing.T, conn net.Conn) string {
	t.Helper()
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	require.NoError(t, err)
	return string(b[:n])
}

func TestFirstFrameGoesOutTogetherWithTheAnswerToTheUpgrade(t *testing.T) {
	c, there := overPipe(t, plainly)
	sent := make(chan bool, 2)
	go func() {
		w := newWriter()
		sent <- c.Send(w, append(w.Blank(), "first"...), Own)
		sent <- c.Send(w, append(w.Blank(), "second"...), Own)
	}()
	head, frame, _ := strings.Cut(read(t, there), "\r\n\r\n")
	require.True(t, strings.HasPrefix(head, "HTTP/1.1 101 Switching Protocols\r\n"), head)
	for _, line := range []string{"Connection: Upgrade", "Upgrade: websocket", "X-Request-Id: r-1",
		"Sec-Websocket-Accept: "} {
		require.Contains(t, head, "\r\n"+line)
	}
	require.Equal(t, "\x81\x05first", frame)
	require.Equal(t, "\x81\x06second", read(t, there))
	require.True(t, <-sent)
	require.True(t, <-sent)
}

func TestUpgradeIsAnsweredAlsoWithoutAFirstFrame(t *testing.T) {
	_, there := overPipe(t, plainly)
	head := read(t, there)
	require.True(t, strings.HasPrefix(head, "HTTP/1.1 101 ") && strings.HasSuffix(head, "\r\n\r\n"), head)
}

func TestSocketClosedBeforeItsFirstFrameWasUpgraded(t *testing.T) {
	c, there := overPipe(t, plainly)
	go c.Shut(4001, "draining")
	head, frame, _ := strings.Cut(read(t, there), "\r\n\r\n")
	require.True(t, strings.HasPrefix(head, "HTTP/1.1 101 "), head)
	require.Equal(t, "\x88\x0a\x0f\xa1draining", frame)
}

func TestFrameworkKnowsThatTheProtocolIsAnotherOne(t *testing.T) {
	var status int
	_, there := overPipe(t, func(w handed) http.ResponseWriter { return noting{w, &status} })
	require.Equal(t, http.StatusSwitchingProtocols, status)
	require.True(t, strings.HasPrefix(read(t, there), "HTTP/1.1 101 "))
}

func TestHeaderThatWouldEndTheHeaderIsLeftOut(t *testing.T) {
	head := string(switching(http.Header{"X-Good": {"a", "b"}, "X-Bad": {"a\r\nX-More: b", "a\nb"}}))
	require.Equal(t, "HTTP/1.1 101 Switching Protocols\r\nX-Good: a\r\nX-Good: b\r\n\r\n", head)
}
