package server

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

// wire is a connection to a server or a database that a test can cut.
type wire struct {
	net.Listener
	to      string
	running sync.WaitGroup

	mu    sync.Mutex
	ends  map[net.Conn]bool
	isCut bool
}

// cutOffDatabase returns the address of a PostgreSQL, and functions that cut it off and reconnect it. To stop
// it, a test would need a server of its own.
func cutOffDatabase(t *testing.T) (address string, away, back func()) {
	t.Helper()
	at, err := url.Parse(pgtest.Start(t).URL())
	require.NoError(t, err)
	w := newWire(t, at.Host)
	at.Host = w.Addr().String()
	return at.String(), func() { w.cut(true) }, func() { w.cut(false) }
}

// newWire returns a wire to an address (host:port) that lasts until the test ends.
func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{Listener: l, to: to, ends: map[net.Conn]bool{}}
	w.running.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.cut(true)
		w.running.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		here, err := w.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = here.Close()
			continue
		}
		if w.hold(here, there) {
			w.running.Go(func() { w.carry(here, there) })
			w.running.Go(func() { w.carry(there, here) })
		}
	}
}

// hold records both ends, so that they can be cut; it returns false if the wire is cut already.
func (w *wire) hold(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range ends {
		w.ends[end] = true
		if w.isCut {
			_ = end.Close()
		}
	}
	return !w.isCut
}

func (w *wire) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
}

func (w *wire) cut(away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = away
	for end := range w.ends {
		_ = end.Close()
		delete(w.ends, end)
	}
}
