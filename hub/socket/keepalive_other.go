//go:build !linux

package socket

// setUserTimeout does nothing: this system has keep-alive only.
func (w *wire) setUserTimeout() {}
