package admission

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	opensOne = "GET /api/shop:a/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n"
	readsOne = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// gated is a listener on loopback, and its clients by the address that the server sees.
type gated struct {
	*listener
	t        *testing.T
	failures chan error
	names    map[string]string
}

func newGated(t *testing.T, turns int) *gated {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gated{t: t, failures: make(chan error, 1), names: make(map[string]string)}
	g.listener = newListener(l, turns, func(err error) { g.failures <- err })
	g.within = time.Hour
	return g
}

// open lets the listener accept connections; the clients that are left are closed when the test ends.
func (g *gated) open() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.run()
	}()
	g.t.Cleanup(func() {
		_ = g.Close()
		<-ended
		for _, s := range g.queue {
			_ = s.conn.Close()
		}
	})
}

// come connects a client, which sends a text if it is not empty.
func (g *gated) come(name, says string) net.Conn {
	c, err := net.Dial("tcp", g.Addr().String())
	require.NoError(g.t, err)
	g.t.Cleanup(func() { _ = c.Close() })
	g.names[c.LocalAddr().String()] = name
	_, err = io.WriteString(c, says)
	require.NoError(g.t, err)
	return c
}

// stand connects one client after the other, and waits until each is in line.
func (g *gated) stand(names ...string) {
	for _, name := range names {
		before := g.standing()
		g.come(name, opensOne)
		require.Eventually(g.t, func() bool { return g.standing() == before+1 }, 10*time.Second,
			time.Millisecond)
	}
}

func (g *gated) standing() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}

// accept returns the next client that the listener lets in.
func (g *gated) accept() (string, net.Conn) {
	c, err := g.Accept()
	require.NoError(g.t, err)
	g.t.Cleanup(func() { _ = c.Close() })
	return g.names[c.RemoteAddr().String()], c
}

func (g *gated) goesIn(name string) net.Conn {
	g.t.Helper()
	who, c := g.accept()
	require.Equal(g.t, name, who)
	return c
}

func TestOtherRequestsPassQueuedSockets(t *testing.T) {
	g := newGated(t, 1)
	g.open()
	g.stand("first", "second", "third")
	first := g.goesIn("first")
	g.come("join", readsOne)
	g.goesIn("join")
	g.state(first, http.StateHijacked)
	second := g.goesIn("second")
	g.come("page", readsOne)
	g.goesIn("page")
	g.state(second, http.StateClosed)
	g.goesIn("third")
}

func TestTurnIsOverWhenTheSocketIsOpenOrRefusedOrItsClientHasGone(t *testing.T) {
	for _, over := range []http.ConnState{http.StateHijacked, http.StateIdle, http.StateClosed} {
		t.Run(over.String(), func(t *testing.T) {
			g := newGated(t, 1)
			g.open()
			g.stand("first", "second")
			first := g.goesIn("first")
			g.state(first, http.StateNew)
			g.state(first, http.StateActive)
			g.come("other", readsOne)
			other := g.goesIn("other")
			g.state(other, over) // which had no turn
			require.Zero(t, g.free)
			g.state(first, over)
			g.state(first, over)
			require.Equal(t, 1, g.free, "it ends once")
			g.goesIn("second")
			require.Zero(t, g.free)
		})
	}
}

func TestRequestThatQueuedForLongIsServed(t *testing.T) {
	g := newGated(t, 1)
	g.within = 50 * time.Millisecond
	g.open()
	g.stand("first", "second")
	g.goesIn("first")
	g.goesIn("second") // though the first one is not known to be in
}

func TestLateSocketsAndOtherRequestsTakeTurns(t *testing.T) {
	g := newGated(t, 1)
	_ = g.Close()
	g.within = 0
	came := func(socket bool) net.Conn {
		here, there := net.Pipe()
		t.Cleanup(func() { _, _ = here.Close(), there.Close() })
		g.came(here, socket)
		return here
	}
	late, others := []net.Conn{came(true), came(true), came(true)}, []net.Conn{came(false), came(false)}
	for _, c := range []net.Conn{others[0], late[0], others[1], late[1], late[2]} {
		in, err := g.Accept()
		require.NoError(t, err)
		require.Same(t, c, in)
	}
}

func TestSilentSocketIsHandedOver(t *testing.T) {
	g := newGated(t, 1)
	g.whole = 50 * time.Millisecond
	g.open()
	c := g.come("silent", "")
	in := g.goesIn("silent")
	_, err := io.WriteString(c, readsOne)
	require.NoError(t, err)
	said := make([]byte, len(readsOne))
	_, err = io.ReadFull(in, said) // its deadline is gone
	require.NoError(t, err)
	require.Equal(t, readsOne, string(said))
}

func TestLateRequestQueuesLikeOthers(t *testing.T) {
	for name, first := range map[string]string{"says nothing": "",
		"says a part": opensOne[:len(opensOne)-20]} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, 1)
			g.whole = time.Hour
			g.open()
			g.stand("first", "second")
			g.goesIn("first")
			late := g.come("late", first)
			g.come("other", readsOne)
			g.goesIn("other") // no request waits for the late one
			require.Equal(t, 1, g.standing())
			_, err := io.WriteString(late, opensOne[len(first):])
			require.NoError(t, err)
			require.Eventually(t, func() bool { return g.standing() == 2 }, 10*time.Second, time.Millisecond)
		})
	}
}

func TestLineIsNotReadFromTheStore(t *testing.T) {
	g := newGated(t, 1)
	g.open()
	g.stand("first")
	said := make([]byte, len(opensOne))
	_, err := io.ReadFull(g.goesIn("first"), said)
	require.NoError(t, err)
	require.Equal(t, opensOne, string(said))
}

func TestClosedAdmissionServesRequestsThatHaveArrived(t *testing.T) {
	g := newGated(t, 1)
	g.whole = time.Hour
	g.open()
	g.stand("first", "second", "third")
	g.goesIn("first")
	g.come("silent", "")
	g.come("other", readsOne)
	g.goesIn("other") // the silent one has been accepted before
	require.NoError(t, g.Close())
	require.Eventually(t, g.closed, 10*time.Second, time.Millisecond,
		"nobody waits until the silent one speaks")
	g.goesIn("second") // without a turn
	g.goesIn("silent")
	g.goesIn("third")
	for range 2 {
		_, err := g.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
	}
}

func (g *gated) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err != nil
}

// faulty is a listener whose first Accept returns an error.
type faulty struct {
	net.Listener
	err error
}

func (f *faulty) Accept() (net.Conn, error) {
	if err := f.err; err != nil {
		f.err = nil
		return nil, err
	}
	return f.Listener.Accept()
}

func TestErrorThatPassesIsReportedAndEndsNothing(t *testing.T) {
	g := newGated(t, 1)
	tooMany := &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	g.Listener = &faulty{g.Listener, tooMany}
	g.open()
	require.ErrorIs(t, <-g.failures, tooMany)
	g.come("next", readsOne)
	g.goesIn("next")
}

func TestErrorThatDoesNotPassEndsTheGate(t *testing.T) {
	g := newGated(t, 1)
	denied := &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EPERM)}
	defer func() { _ = g.Close() }()
	g.Listener = &faulty{g.Listener, denied}
	g.run()
	for range 2 {
		_, err := g.Accept()
		require.ErrorIs(t, err, denied)
	}
}

func TestSocketIsKnownByItsRequest(t *testing.T) {
	const ws, upgrades, end = "GET /api/a/ws HTTP/1.1\r\n", "Upgrade: websocket\r\n", "\r\n"
	for request, is := range map[string]struct{ socket, seen bool }{
		opensOne:            {true, true},
		ws + upgrades + end: {true, true},
		"GET /api/a/ws?x=1 HTTP/1.1\r\nhost: a\r\nupgrade:WebSocket\r\n" + end: {true, true},
		ws + upgrades + end + "\x81\x01a":                                      {true, true},
		readsOne:                                                               {false, true},
		ws + end:                                                               {false, true},
		ws + "Upgrade: h2c\r\n" + end:                                          {false, true},
		"POST /api/a/ws HTTP/1.1\r\n" + upgrades + end:                         {false, true},
		"GET /api/a/news HTTP/1.1\r\n" + upgrades + end:                        {false, true},
		"GET /?of=/ws HTTP/1.1\r\n" + upgrades + end:                           {false, true},

		// The server would wait for its body.
		ws + upgrades + "Content-Length: 10\r\n" + end:             {false, true},
		ws + upgrades + "transfer-encoding: chunked\r\n" + end:     {false, true},
		ws + upgrades + "X: a\nContent-Length: 1\r\n" + end:        {false, true},
		"GET /ws HTTP/1.1\nContent-Length: 1\r\n" + upgrades + end: {false, true},

		// It is not whole.
		"G":                {false, false},
		"GET /api/a/w":     {false, false},
		ws + upgrades:      {false, false},
		"POST":             {false, true},
		"\x16\x03\x01\x02": {false, true},
		ws + upgrades + "X: " + strings.Repeat("x", headMost-len(ws+upgrades)-3): {false, true},
	} {
		socket, seen := wantsSocket([]byte(request))
		require.Equal(t, is.socket, socket, "%.80q", request)
		require.Equal(t, is.seen, seen, "%.80q", request)
	}
}

// FuzzWantsSocket compares the quick look at a request's bytes with what the HTTP server parses.
func FuzzWantsSocket(f *testing.F) {
	for _, seed := range []string{opensOne, readsOne,
		"GET /api/a/ws?x HTTP/1.1\r\nHost: a\r\nupgrade : websocket\r\n\r\n", "GET /ws HTTP/1.1\r\nHost: " +
			"a\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nX: a\nContent-Length: 1\r\n\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		socket, seen := wantsSocket(request[:min(len(request), headMost)])
		require.True(t, seen || !socket)
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
		if !socket || err != nil || len(request) > headMost {
			return
		}
		require.Equal(t, http.MethodGet, r.Method)
		require.Zero(t, r.ContentLength, "it has a body")
	})
}
