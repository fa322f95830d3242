//go:build !unix

package socket

import "errors"

// canTry reports whether a write can be tried without blocking.
const canTry = false

// once is not used: attach leaves raw nil if writes cannot be tried without blocking.
func (p *nonblockingWrite) once(uintptr) bool {
	p.err = errors.ErrUnsupported
	return true
}
