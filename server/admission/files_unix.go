//go:build unix

package admission

import (
	"net"
	"syscall"
)

// FileLimit returns how many files this process may open; 0 = unknown.
func FileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // signed on some systems
}

// fileOf returns the number of a connection's file, which is the lowest that was free; 0 = unknown.
func fileOf(c net.Conn) (number uint64) {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { number = uint64(fd) })
		}
	}
	return number
}
