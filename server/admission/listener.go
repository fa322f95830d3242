package admission

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

const (
	headMost    = 4 << 10               // bytes; a longer request is handed over unseen
	headWithin  = 1 * time.Second       // a connection that has not sent its request by then is handed over
	acceptAgain = 20 * time.Millisecond // after a temporary error: no open files are left, mostly
)

// listener hands over few connections at a time that ask for a socket, first come first served, and all
// others at once.
//
// The HTTP server's work for a connection before it knows the request costs nearly as much as opening a
// socket, so the handler alone would hold sockets back too late. The listener does not read from a queued
// connection.
type listener struct {
	net.Listener
	within time.Duration // a connection that is queued for so long is handed over all the same
	whole  time.Duration // headWithin
	failed func(error)   // no connection can be accepted for a moment

	mu       sync.Mutex
	changed  sync.Cond
	partial  map[net.Conn]bool // connections that have not sent all of their request
	others   []net.Conn        // connections that want no socket
	queue    []queued          // connections that want a socket
	admitted map[net.Conn]bool // connections with a slot
	free     int               // slots
	last     map[net.Conn]bool // connections that have one of the last files
	first    uint64            // number of the first of these files; 0 = there is no limit
	most     int               // connections that may have one at a time
	passed   bool              // the connection before was not of the queue
	err      error             // why no connection comes any more

	peeking sync.WaitGroup
}

// queued is a connection that waits for a slot.
type queued struct {
	conn  net.Conn
	since time.Time
}

// newListener wraps a listener. It hands over nothing before run is called; state reports what happens to the
// connections.
func newListener(inner net.Listener, slots int, failed func(error)) *listener {
	l := &listener{Listener: inner, within: queuedWithin, whole: headWithin, failed: failed,
		partial: make(map[net.Conn]bool), admitted: make(map[net.Conn]bool), last: make(map[net.Conn]bool),
		free: slots}
	l.first, l.most = keepBack(FileLimit())
	l.changed.L = &l.mu
	return l
}

// ListenRemedy returns what to do if a program cannot listen on an address.
func ListenRemedy(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop the program that listens there (ss -ltnp names it), or choose another port"
	case errors.Is(err, syscall.EACCES):
		return "choose a port above 1023, or give the user CAP_NET_BIND_SERVICE"
	}
	return "name an address of this machine, or only a port, such as :8080"
}

// run accepts connections until the listener is closed or fails.
func (l *listener) run() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			l.accepted(c)
			continue
		}
		if passes, ok := err.(interface{ Temporary() bool }); ok && passes.Temporary() {
			l.failed(err)
			time.Sleep(acceptAgain)
			continue
		}
		l.giveUp()
		l.peeking.Wait()
		l.mu.Lock()
		l.err = err
		l.changed.Broadcast()
		l.mu.Unlock()
		return
	}
}

func (l *listener) accepted(c net.Conn) {
	switch last, ok := l.reserves(c); {
	case !ok:
		l.failed(errFewFiles)
		_ = c.Close()
	case last:
		l.came(c, false) // it is answered at once
	default:
		l.classify(c)
	}
}

// classify finds out whether a connection asks for a socket. It does not block.
func (l *listener) classify(c net.Conn) {
	if socket, seen := peekNow(c); seen {
		l.came(c, socket)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(l.whole))
	l.mu.Lock()
	l.partial[c] = true
	l.mu.Unlock()
	l.peeking.Go(func() {
		socket := peek(c)
		l.mu.Lock()
		delete(l.partial, c)
		l.mu.Unlock()
		_ = c.SetReadDeadline(time.Time{})
		l.came(c, socket)
	})
}

// giveUp ends the wait for requests.
func (l *listener) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.partial {
		_ = c.SetReadDeadline(time.Now())
	}
}

// came queues a connection, or keeps it to be handed over next.
func (l *listener) came(c net.Conn, socket bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed.Broadcast()
	if !socket {
		l.others = append(l.others, c)
		return
	}
	l.queue = append(l.queue, queued{c, time.Now()})
}

// Accept returns the next connection. After the listener has ended it returns those that have come, and then
// its error.
func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if c := l.next(); c != nil {
			return c, nil
		}
		if l.err != nil {
			return nil, l.err
		}
		l.wait()
	}
}

// next returns the connection to hand over now; nil = none. Overdue connections and those that ask for no
// socket take turns.
func (l *listener) next() net.Conn {
	late := len(l.queue) > 0 && (l.err != nil || time.Since(l.queue[0].since) >= l.within)
	switch {
	case len(l.others) > 0 && !(late && l.passed):
		c := l.others[0]
		l.others[0] = nil
		l.others = l.others[1:]
		l.passed = true
		return c
	case len(l.queue) > 0 && (late || l.free > 0):
		c := l.queue[0].conn
		l.queue[0].conn = nil
		l.queue = l.queue[1:]
		l.passed = false
		if !late {
			l.free--
			l.admitted[c] = true
		}
		return c
	}
	return nil
}

// wait returns when something has changed or the first queued connection is overdue.
func (l *listener) wait() {
	if len(l.queue) > 0 {
		late := time.AfterFunc(l.within-time.Since(l.queue[0].since), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.changed.Broadcast()
		})
		defer late.Stop()
	}
	l.changed.Wait()
}

// state frees a connection's slot. See Admission.ConnState.
func (l *listener) state(c net.Conn, s http.ConnState) {
	if s == http.StateNew || s == http.StateActive {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != http.StateIdle {
		delete(l.last, c)
	}
	if l.admitted[c] {
		delete(l.admitted, c)
		l.free++
		l.changed.Broadcast()
	}
}

// wantsSocket reports whether the bytes of a request ask for a socket; seen is false while the rest of a
// possible one is missing.
//
// The request has to be complete and without a body, since one that is read slowly would keep its slot for
// that time. If wantsSocket is wrong, the handler decides.
func wantsSocket(request []byte) (socket, seen bool) {
	head, _, whole := bytes.Cut(request, []byte("\r\n\r\n"))
	line, header, _ := bytes.Cut(head, []byte("\r\n"))
	target, get := bytes.CutPrefix(line, []byte("GET "))
	if !whole {
		return false, len(request) == headMost || (!get && len(request) >= len("GET "))
	}
	path, _, _ := bytes.Cut(target, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte("?"))
	if !get || !bytes.HasSuffix(path, []byte("/ws")) ||
		bytes.Count(head, []byte("\n")) != bytes.Count(head, []byte("\r\n")) {
		return false, true
	}
	for field := range bytes.SplitSeq(header, []byte("\r\n")) {
		name, value, _ := bytes.Cut(field, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Upgrade")):
			socket = bytes.EqualFold(bytes.TrimSpace(value), []byte("websocket"))
		case bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name,
			[]byte("Transfer-Encoding")):
			return false, true
		}
	}
	return socket, true
}
