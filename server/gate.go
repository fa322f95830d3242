package server

import (
	"bytes"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	gateTurns   = 2                     // for each turn of the turnstile: connections that are handed over and have not opened their socket yet
	headMost    = 4 << 10               // bytes; a longer request is handed over unseen
	headWithin  = 1 * time.Second       // who has not said all of its request for so long is handed over
	acceptAgain = 20 * time.Millisecond // after an error that passes: no open files are left, mostly
	crowdFrom   = 64                    // so many in line are a crowd
)

// gate is a listener that hands over few connections at a time that want a socket, first come first served, and every other one at
// once. When a replica dies, thousands of browsers come to the next one within a second, and what the HTTP server does for each
// before it knows what it is asked costs nearly as much as opening the socket: where the turnstile alone holds them back, it comes too
// late. Here nothing is read of who stands in line, and nothing kept but the connection.
type gate struct {
	net.Listener
	within time.Duration // who has stood in line for so long goes in all the same
	whole  time.Duration // headWithin
	crowd  func()        // the line has become a crowd
	failed func(error)   // nobody can be accepted for a moment

	mu      sync.Mutex
	changed sync.Cond
	silent  map[net.Conn]bool // who has not said all of its request
	others  []net.Conn
	line    []standing        // those who want a socket
	in      map[net.Conn]bool // who has a turn
	turns   int               // that nobody has
	passed  bool              // who went in last was not of the line
	err     error             // why nobody comes any more

	looking sync.WaitGroup
}

// standing is one of the line.
type standing struct {
	conn  net.Conn
	since time.Time
}

// newGate is a gate before l, once run runs. Whoever accepts from it tells state what becomes of connections.
func newGate(l net.Listener, turns int, crowd func(), failed func(error)) *gate {
	g := &gate{Listener: l, within: turnWithin, whole: headWithin, crowd: crowd, failed: failed,
		silent: make(map[net.Conn]bool), in: make(map[net.Conn]bool), turns: turns}
	g.changed.L = &g.mu
	return g
}

// run returns when the listener is closed, or can accept nobody any more.
func (g *gate) run() {
	for {
		c, err := g.Listener.Accept()
		if err == nil {
			g.meet(c)
			continue
		}
		if passes, ok := err.(interface{ Temporary() bool }); ok && passes.Temporary() {
			g.failed(err)
			time.Sleep(acceptAgain)
			continue
		}
		g.hurry()
		g.looking.Wait()
		g.mu.Lock()
		g.err = err
		g.changed.Broadcast()
		g.mu.Unlock()
		return
	}
}

// meet finds out what a connection wants, and does not wait.
func (g *gate) meet(c net.Conn) {
	if socket, seen := glimpse(c); seen {
		g.came(c, socket)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(g.whole))
	g.mu.Lock()
	g.silent[c] = true
	g.mu.Unlock()
	g.looking.Go(func() {
		socket := look(c)
		g.mu.Lock()
		delete(g.silent, c)
		g.mu.Unlock()
		_ = c.SetReadDeadline(time.Time{})
		g.came(c, socket)
	})
}

// hurry waits no longer for anybody's request.
func (g *gate) hurry() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.silent {
		_ = c.SetReadDeadline(time.Now())
	}
}

func (g *gate) came(c net.Conn, socket bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.changed.Broadcast()
	if !socket {
		g.others = append(g.others, c)
		return
	}
	g.line = append(g.line, standing{c, time.Now()})
	if len(g.line) == crowdFrom {
		g.crowd()
	}
}

// Accept returns the next connection. When the listener has ended it returns those that have come, without turns, and then its error.
func (g *gate) Accept() (net.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if c := g.next(); c != nil {
			return c, nil
		}
		if g.err != nil {
			return nil, g.err
		}
		g.wait()
	}
}

// next is who goes in now; nil where nobody may. Those who are late and those who want no socket take turns.
func (g *gate) next() net.Conn {
	late := len(g.line) > 0 && (g.err != nil || time.Since(g.line[0].since) >= g.within)
	switch {
	case len(g.others) > 0 && !(late && g.passed):
		c := g.others[0]
		g.others[0] = nil
		g.others = g.others[1:]
		g.passed = true
		return c
	case len(g.line) > 0 && (late || g.turns > 0):
		c := g.line[0].conn
		g.line[0].conn = nil
		g.line = g.line[1:]
		g.passed = false
		if !late {
			g.turns--
			g.in[c] = true
		}
		return c
	}
	return nil
}

// wait returns when something has changed, or when the first in line is late.
func (g *gate) wait() {
	if len(g.line) > 0 {
		late := time.AfterFunc(g.within-time.Since(g.line[0].since), func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.changed.Broadcast()
		})
		defer late.Stop()
	}
	g.changed.Wait()
}

// state is the server's ConnState: a turn is over when the connection is taken over, when the request was refused, and when its client
// has gone.
func (g *gate) state(c net.Conn, s http.ConnState) {
	if s == http.StateNew || s == http.StateActive {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in[c] {
		delete(g.in, c)
		g.turns++
		g.changed.Broadcast()
	}
}

// wantsSocket reports whether a request asks for a socket; it is not seen while the rest of one that may is still to come. One that is read
// slowly would keep a turn for that long, so it has to be whole, and without a body; nor may it end lines as the server does and this
// does not. Where this is wrong, the turnstile is right.
func wantsSocket(request []byte) (socket, seen bool) {
	head, _, whole := bytes.Cut(request, []byte("\r\n\r\n"))
	line, header, _ := bytes.Cut(head, []byte("\r\n"))
	target, get := bytes.CutPrefix(line, []byte("GET "))
	if !whole {
		return false, len(request) == headMost || (!get && len(request) >= len("GET "))
	}
	path, _, _ := bytes.Cut(target, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte("?"))
	if !get || !bytes.HasSuffix(path, []byte("/ws")) || bytes.Count(head, []byte("\n")) != bytes.Count(head, []byte("\r\n")) {
		return false, true
	}
	for field := range bytes.SplitSeq(header, []byte("\r\n")) {
		name, value, _ := bytes.Cut(field, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Upgrade")):
			socket = bytes.EqualFold(bytes.TrimSpace(value), []byte("websocket"))
		case bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return false, true
		}
	}
	return socket, true
}
