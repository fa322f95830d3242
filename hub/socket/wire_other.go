//go:build !unix

package socket

import "errors"

// canTry says that reading and writing can be tried without waiting.
const canTry = false

// once is not used: attach leaves raw nil where neither can be tried.
func (p *pen) once(uintptr) bool {
	p.err = errors.ErrUnsupported
	return true
}

// readable is not used either.
func readable(uintptr) bool { return true }
