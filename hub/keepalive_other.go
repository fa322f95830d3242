//go:build !linux

package hub

// setUserTimeout does nothing: only keep-alive is there.
func (w *wire) setUserTimeout() {}
