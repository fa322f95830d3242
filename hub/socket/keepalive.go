package socket

import (
	"net"
	"time"
)

// When the kernel gives a connection up whose other side acknowledges nothing, sent or not: after 20 s. Five
// probes have to be lost before: a single one gets lost on any network, and also on loopback, where a
// thousand fall due at once and the kernel's queue (net.core.netdev_max_backlog) holds no more.
const (
	keepIdle     = 10 * time.Second
	keepInterval = 2 * time.Second
	keepProbes   = 5
	userTimeout  = keepIdle + keepProbes*keepInterval
)

// keepAlive lets the kernel notice a dead peer. That works up to the next proxy only; pings go further.
func (w *wire) keepAlive() {
	if tcp, ok := w.Conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepInterval,
			Count: keepProbes})
		w.setUserTimeout()
	}
}
