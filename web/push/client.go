package push

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
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

var errNotLoopback = errors.New("not this machine")

// newClient makes the client that posts to endpoints. Endpoints come from sellers' browsers, so guard checks
// each address when it is dialed, after name resolution. The client follows no redirects and uses no proxy.
func newClient(loopback bool) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: guard.Safe}
	if loopback {
		dialer.Control = onlyLoopback
	}
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
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
