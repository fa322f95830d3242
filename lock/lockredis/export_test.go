package lockredis

import "github.com/waitroom/waitroom/lock"

// InLine returns the number of this locker's waiters for a key that know that they wait. Waiting also counts
// those whose reply is on its way.
func (l *Locker) InLine(key lock.Key) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.lines[roomOf(key)]; ln != nil {
		return len(ln.tickets)
	}
	return 0
}
