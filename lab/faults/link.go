package faults

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// network makes links.
type network struct {
	tb     testing.TB
	server *toxiproxy.ApiServer // never listens: links are worked by their methods
}

func newNetwork(tb testing.TB) *network {
	return &network{tb: tb, server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()),
		zerolog.Nop())}
}

// link is a connection to one server that a test can cut, slow down and hang.
type link struct {
	name  string
	proxy *toxiproxy.Proxy
	addr  string
}

// to makes a link to an address, which lasts until the end of the test.
func (n *network) to(name, addr string) *link {
	n.tb.Helper()
	l := &link{name: name, proxy: toxiproxy.NewProxy(n.server, name,
		fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(n.tb)), addr)}
	if err := l.proxy.Start(); err != nil {
		n.tb.Fatalf("faults: link %s: %v", name, err)
	}
	l.addr = l.proxy.Listen
	n.tb.Cleanup(l.proxy.Stop)
	return l
}

// Cut closes every connection and refuses new ones until Heal.
func (l *link) Cut() { l.proxy.Stop() }

// Hang keeps all connections open and drops what is sent in the given directions: "upstream" to the server,
// "downstream" to the client. With one direction the connection is half-open.
func (l *link) Hang(directions ...string) error {
	for _, d := range directions {
		if err := l.toxic("timeout", d, `{"timeout":0}`); err != nil {
			return err
		}
	}
	return nil
}

// Slow delays all data in both directions by the delay and a random part of it.
func (l *link) Slow(delay time.Duration) error {
	for _, d := range []string{"upstream", "downstream"} {
		half := delay.Milliseconds() / 2
		if err := l.toxic("latency", d, fmt.Sprintf(`{"latency":%d,"jitter":%d}`, delay.Milliseconds()+half,
			half)); err != nil {
			return err
		}
	}
	return nil
}

func (l *link) toxic(kind, direction, attributes string) error {
	_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
		`{"type":%q,"stream":%q,"attributes":%s}`, kind, direction, attributes)))
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, l.name, err)
	}
	return nil
}

// Heal ends Cut, Hang and Slow. Connections that hung stay broken, since data is missing in them.
func (l *link) Heal() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	l.proxy.Toxics.ResetToxics(ctx)
	if !l.proxy.Enabled {
		return l.proxy.Start()
	}
	return nil
}
