//go:build unix && !aix && !solaris

package server

import (
	"net"
	"sync"
	"syscall"
)

var heads = sync.Pool{New: func() any { return new([headMost]byte) }}

// glimpse is wantsSocket of what a client has said, which the server reads all the same.
func glimpse(c net.Conn) (socket, seen bool) {
	raw := rawOf(c)
	if raw == nil {
		return false, true
	}
	_ = raw.Control(func(fd uintptr) { socket, seen = peek(fd) })
	return socket, seen
}

// look waits, until the read deadline, for what glimpse has not seen.
func look(c net.Conn) (socket bool) {
	_ = rawOf(c).Read(func(fd uintptr) (seen bool) {
		socket, seen = peek(fd)
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

func peek(fd uintptr) (socket, seen bool) {
	head := heads.Get().(*[headMost]byte)
	defer heads.Put(head)
	for {
		n, _, err := syscall.Recvfrom(int(fd), head[:], syscall.MSG_PEEK) // Go's sockets never block
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return false, false
		case err != nil || n == 0: // it has gone, as the server will see
			return false, true
		}
		return wantsSocket(head[:n])
	}
}
