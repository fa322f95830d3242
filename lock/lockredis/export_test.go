package lockredis

import (
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lock"
)

// OptionsOfConnections returns the options of the connections that calls run on; nil for those of the
// client itself.
func (l *Locker) OptionsOfConnections() *redis.Options {
	if l.interrupter == nil {
		return nil
	}
	c := l.interrupter.open()
	_ = c.client.Close()
	return c.client.Options()
}

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
