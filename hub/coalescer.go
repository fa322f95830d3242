package hub

import (
	"time"

	"github.com/waitroom/waitroom/hub/socket"
)

// coalescer delays changes for the back of the line. It sends the first change right after the head of the
// line, and those within the pause after it as one. The room's lock guards it.
type coalescer struct {
	l     *localRoom
	due   bool // a change was not sent yet
	until time.Time
	timer *time.Timer
}

// headStart is how long the back of the line waits behind the sockets that a change concerns most. Otherwise
// thousands of sockets would compete with those for the processors, also on the clients' machines.
const headStart = time.Millisecond

// behind records a change for the back of the line.
func (b *coalescer) behind(now time.Time) {
	if b.due {
		return
	}
	b.due = true
	if from := now.Add(headStart); from.After(b.until) {
		b.until = from
	}
}

func (b *coalescer) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// flush marks every socket of the room for a state frame if a change is due. Before `until`, which is
// Config.Coalesce after the last flush or headStart after the change, it plans a flush for then.
func (b *coalescer) flush() {
	l := b.l
	l.mu.Lock()
	now := time.Now()
	if !b.due || !l.m.Live || l.dead {
		l.mu.Unlock()
		return
	}
	if wait := b.until.Sub(now); wait > 0 {
		b.wake(wait)
		l.mu.Unlock()
		return
	}
	b.due = false
	b.until = now.Add(l.h.cfg.Coalesce)
	l.mu.Unlock()
	b.markAll()
}

// wake plans a flush; one timer serves all changes until then.
func (b *coalescer) wake(wait time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, b.flush)
	} else {
		b.timer.Reset(wait)
	}
}

// markAll marks every socket. Sockets that are marked already keep their place in the queue.
func (b *coalescer) markAll() {
	l := b.l
	l.mu.RLock()
	defer l.mu.RUnlock()
	socket.MarkAll(l.h.pool, l.conns, dueState)
}
