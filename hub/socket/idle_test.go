//go:build !race

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

// parlour accepts sockets over real connections and hands each to the test once its request was answered.
type parlour struct {
	*httptest.Server
	pool    *Pool
	running sync.WaitGroup

	mu    sync.Mutex
	conns []*Conn
}

func newParlour(t *testing.T) *parlour {
	p := &parlour{pool: New(Config{WriteTimeout: time.Second, CloseGrace: time.Second, Start: time.Now(),
		Metrics: Metrics{Floods: prometheus.NewCounter(prometheus.CounterOpts{})}})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(Conn)
		if Check(w, r, nil) != nil || !p.pool.Accept(w, r, c, nil) {
			return
		}
		c.Open()
		c.put(newNonblockingWrite(), nil, 0, false) // there is no frame: the answer goes out by itself
		p.mu.Lock()
		p.conns = append(p.conns, c)
		p.mu.Unlock()
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

// dial opens a socket; early is text that is sent together with the request.
func (p *parlour) dial(t *testing.T, early string) (net.Conn, *bufio.Reader) {
	conn, err := net.Dial("tcp", p.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "+
		"websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"+early)
	require.NoError(t, err)
	read := bufio.NewReader(conn)
	answer, err := http.ReadResponse(read, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	return conn, read
}

// answeredSince counts the pages that have answered a ping since a time.
func (p *parlour) answeredSince(then int64) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if c.pong.Load() >= then {
			n++
		}
	}
	return n
}

// page is a page's answer to a ping, as the bytes of its frame.
const page = "\x81\x8f\x00\x00\x00\x00" + `{"type":"pong"}`

// No further bytes arrive that would wake the reader.
func TestMessagesThatComeTogetherAreAllRead(t *testing.T) {
	const browser = "\x89\x81\x00\x00\x00\x00x"
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
	open := func() (all [sockets]net.Conn) {
		for i := range all {
			all[i], _ = p.dial(t, "")
		}
		return all
	}
	open() // Go begins a stack as large as stacks are in the mean: now they are small
	before := stacks()
	small := func() bool { return (stacks()-before)/sockets < smallest*3/2 }
	all := open()
	require.Eventually(t, small, time.Minute, 10*time.Millisecond)
	asked := p.pool.now()
	for _, conn := range all { // as a page and its browser answer our pings
		_, err := io.WriteString(conn, page+"\x8a\x80\x00\x00\x00\x00")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return p.answeredSince(asked) == sockets }, time.Minute,
		10*time.Millisecond)
	require.Eventually(t, small, time.Minute, 10*time.Millisecond)
}

// stacks returns the memory of all goroutines' stacks after a garbage collection, which shrinks them.
func stacks() int64 {
	for range 3 {
		runtime.GC()
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
