package socket

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not know: how long (ms) sent data may stay
// unacknowledged.
const tcpUserTimeout = 18

func (w *wire) setUserTimeout() {
	if w.raw != nil {
		_ = w.raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout,
				int(userTimeout.Milliseconds()))
		})
	}
}
