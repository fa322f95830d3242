//go:build !unix

package socket

import "errors"

// canTry is whether a write can be tried without waiting.
const canTry = false

// once is not used: attach leaves raw nil where writes can not be tried.
func (p *nonblockingWrite) once(uintptr) bool {
	p.err = errors.ErrUnsupported
	return true
}
