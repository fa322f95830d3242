package redistest

import (
	"bufio"
	"net"
	"sync"
)

// link is one client's connection through the proxy. It parses requests and replies, since it has to find the
// reply to a request.
type link struct {
	proxy          *Proxy
	client, server *net.TCPConn
	gone           chan struct{}
	once           sync.Once

	mu       sync.Mutex
	expected []*drop // one for each request without a reply yet; nil where the reply is to be forwarded
}

func newLink(p *Proxy, client, server *net.TCPConn) *link {
	return &link{proxy: p, client: client, server: server, gone: make(chan struct{})}
}

// run returns when both directions have ended.
func (l *link) run() {
	var both sync.WaitGroup
	both.Go(l.requests)
	both.Go(l.replies)
	both.Wait()
}

// cut ends the link at once; it may be called more than once.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.gone)
		reset(l.client)
		reset(l.server)
	})
}

func (l *link) requests() {
	defer l.cut()
	in := bufio.NewReader(l.client)
	for {
		request, err := readValue(in)
		if err != nil || !l.proxy.gates[ToServer].pass(l.gone) {
			return
		}
		if !answeredByPush(request) {
			l.expect(l.proxy.take(request))
		}
		if _, err := l.server.Write(request); err != nil {
			return
		}
	}
}

func (l *link) replies() {
	defer l.cut()
	in := bufio.NewReader(l.server)
	for {
		reply, err := readValue(in)
		if err != nil || !l.proxy.gates[ToClient].pass(l.gone) {
			return
		}
		if reply[0] != '>' {
			if lost := l.next(); lost != nil {
				l.cut()
				close(lost.done)
				return
			}
		}
		if _, err := l.client.Write(reply); err != nil {
			return
		}
	}
}

func (l *link) expect(d *drop) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = append(l.expected, d)
}

// next returns what to do with the reply that just came. A message without a request, as RESP2 sends to
// subscribers, is forwarded.
func (l *link) next() *drop {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.expected) == 0 {
		return nil
	}
	d := l.expected[0]
	l.expected = l.expected[1:]
	return d
}
