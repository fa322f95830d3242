//go:build unix

package socket

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// parlour takes sockets in over real connections, and hands each out when its request was answered.
type parlour struct {
	*httptest.Server
	running sync.WaitGroup
}

func newParlour(t *testing.T) *parlour {
	pool := New(Config{WriteTimeout: time.Second, CloseGrace: time.Second, Start: time.Now(), Metrics: Metrics{Floods: prometheus.NewCounter(prometheus.CounterOpts{})}})
	p := new(parlour)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(Conn)
		if Check(w, r, nil) != nil || !pool.Accept(w, r, c, nil) {
			return
		}
		c.Open()
		p.running.Go(func() {
			c.Run()
			c.Leave()
		})
	}))
	t.Cleanup(func() {
		p.Close()
		p.running.Wait()
	})
	return p
}

// dial opens a socket and sends text with the request.
func (p *parlour) dial(t *testing.T, early string) (net.Conn, *bufio.Reader) {
	conn, err := net.Dial("tcp", p.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"+early)
	require.NoError(t, err)
	read := bufio.NewReader(conn)
	answer, err := http.ReadResponse(read, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	return conn, read
}

// Nothing more comes that would wake the reader.
func TestMessagesThatComeTogetherAreAllRead(t *testing.T) {
	const page, browser = "\x81\x8f\x00\x00\x00\x00" + `{"type":"pong"}`, "\x89\x81\x00\x00\x00\x00x"
	require.Len(t, `{"type":"pong"}`, 0x0f)
	p := newParlour(t)
	for name, early := range map[string]bool{"with the request": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			text := page + page + browser
			if !early {
				text = ""
			}
			conn, read := p.dial(t, text)
			if !early {
				_, err := io.WriteString(conn, page+page+browser)
				require.NoError(t, err)
			}
			answer := make([]byte, 3)
			_, err := io.ReadFull(read, answer)
			require.NoError(t, err)
			require.Equal(t, "\x8a\x01x", string(answer))
		})
	}
}

func TestSocketThatWaitsHasASmallStack(t *testing.T) {
	const sockets, smallest = 300, 2 << 10
	p := newParlour(t)
	before := stacks()
	for range sockets {
		p.dial(t, "")
	}
	require.Less(t, (stacks()-before)/sockets, uint64(smallest*3/2))
}

// stacks is what goroutines take, once those have shrunk that may.
func stacks() uint64 {
	for range 3 {
		runtime.GC()
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
