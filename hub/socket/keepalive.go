package socket

import (
	"net"
	"time"
)

// The kernel gives up a connection after 20 s without an acknowledgement from the other side, whether or not
// data was sent. Five keep-alive probes have to be lost before that, since single probes get lost on any
// network. On loopback they do when a thousand are due at once and exceed net.core.netdev_max_backlog.
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
