//go:build unix && !aix && !solaris

package admission

import (
	"net"
	"sync"
	"syscall"
)

var heads = sync.Pool{New: func() any { return new([headMost]byte) }}

// peekNow is wantsSocket for the bytes that a client has sent, which the server still reads afterwards.
func peekNow(c net.Conn) (socket, seen bool) {
	raw := rawOf(c)
	if raw == nil {
		return false, true
	}
	_ = raw.Control(func(fd uintptr) { socket, seen = peekAt(fd) })
	return socket, seen
}

// peek waits, until the read deadline, for the bytes that peekNow misses.
func peek(c net.Conn) (socket bool) {
	_ = rawOf(c).Read(func(fd uintptr) (seen bool) {
		socket, seen = peekAt(fd)
		return seen
	})
	return socket
}

func rawOf(c net.Conn) syscall.RawConn {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

func peekAt(fd uintptr) (socket, seen bool) {
	head := heads.Get().(*[headMost]byte)
	defer heads.Put(head)
	for {
		n, _, err := syscall.Recvfrom(int(fd), head[:], syscall.MSG_PEEK) // Go's sockets never block
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return false, false
		case err != nil || n == 0: // the client has gone, as the server will see
			return false, true
		}
		return wantsSocket(head[:n])
	}
}
