package crowd

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

const dialTimeout = 5 * time.Second

// net returns a dialer that connects to this machine only, unless Anywhere is set. It checks the address
// after the name was resolved.
func (d Dialer) net() *net.Dialer {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: -1}
	if !d.Anywhere {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return loopback(address) }
	}
	return dialer
}

func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not this machine's loopback: --anywhere lets the crowd out", address)
	}
	return nil
}

// client returns an HTTP client that keeps n connections open.
func (d Dialer) client(n int) *http.Client {
	transport := &http.Transport{DialContext: d.net().DialContext, MaxIdleConnsPerHost: n,
		IdleConnTimeout: 30 * time.Second}
	return &http.Client{Transport: transport, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// parseBase checks the URL of a replica.
func parseBase(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") ||
		(u.Path != "" && u.Path != "/") {
		return "", fmt.Errorf("%q is not like http://127.0.0.1:8080", text)
	}
	return u.Scheme + "://" + u.Host, nil
}
