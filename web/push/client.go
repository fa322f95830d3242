package push

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const (
	dialTimeout = 3 * time.Second
	sendTimeout = 5 * time.Second
)

// guard refuses networks where no public push service can be.
var guard = ssrf.New(ssrf.WithPorts(443))

var (
	errNotLoopback = errors.New("not this machine")
	errNoMaker     = errors.New("through a proxy, only the push services of browsers' makers are asked")
)

// clients post to endpoints, which come from sellers' browsers. They follow no redirects.
type clients struct {
	direct  *http.Client
	proxied *http.Client
	proxy   func(*http.Request) (*url.URL, error)
}

// newClients makes the clients. The direct one checks each address when it is dialed, after its name is
// resolved. A proxy resolves names by itself, maybe to addresses inside, so it is asked for the hosts of
// browsers' makers alone.
func newClients(loopback bool, proxy func(*http.Request) (*url.URL, error)) *clients {
	direct, plain := &net.Dialer{Timeout: dialTimeout, Control: guard.Safe}, &net.Dialer{Timeout: dialTimeout}
	if loopback {
		direct.Control = onlyLoopback
	}
	return &clients{direct: newClient(direct, nil), proxied: newClient(plain, proxy), proxy: proxy}
}

func (c *clients) Do(req *http.Request) (*http.Response, error) {
	proxy, err := c.proxy(req)
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
		return c.direct.Do(req)
	case !maker(req.URL.Hostname()):
		return nil, errNoMaker
	}
	return c.proxied.Do(req)
}

// CloseIdleConnections closes the idle connections of both clients.
func (c *clients) CloseIdleConnections() {
	c.direct.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

func newClient(dialer *net.Dialer, proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: dialer.DialContext, Proxy: proxy, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: dialTimeout,
			MaxIdleConns:        32, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 16 << 10},
	}
}

// onlyLoopback is the guard of tests, whose push services are on this machine.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
