package lockredis

import "github.com/waitroom/waitroom/lock"

// InLine is how many of this locker's waiters for a key have been answered that they wait: Waiting counts those, too, whose answer is on its way.
func (l *Locker) InLine(key lock.Key) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.lines[roomOf(key)]; ln != nil {
		return len(ln.tickets)
	}
	return 0
}
