//go:build unix

package socket

import "syscall"

// canTry reports whether a write can be tried without blocking.
const canTry = true

// once writes as many bytes as the kernel accepts now.
func (p *nonblockingWrite) once(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), p.p)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return true
		}
		p.n, p.err = max(n, 0), err
		return true
	}
}
