package hub

import (
	"net"
	"time"
)

// When the kernel gives a connection up whose other side acknowledges nothing, sent or not: after 20 s at the latest.
const (
	keepIdle     = 15 * time.Second
	keepInterval = 5 * time.Second
	userTimeout  = 20 * time.Second
)

// keepAlive has the kernel notice a dead peer, where the connection is one of its own. It sees no further than the next proxy;
// pings do.
func (w *wire) keepAlive() {
	if tcp, ok := w.Conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepInterval, Count: 1})
		w.setUserTimeout()
	}
}
