//go:build !linux

package socket

// setUserTimeout does nothing: only keep-alive is there.
func (w *wire) setUserTimeout() {}
