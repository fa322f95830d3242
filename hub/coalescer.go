package hub

import (
	"time"

	"github.com/waitroom/waitroom/hub/socket"
)

// coalescer holds back changes for the back of the line: the first one goes out right behind the head of the
// line, those within the pause after it go out as one. The room's lock guards it.
type coalescer struct {
	l     *localRoom
	due   bool // a change was not sent yet
	until time.Time
	timer *time.Timer
}

// headStart is how long the back of the line waits behind the sockets that a change concerns most. Marked at
// the same moment, thousands would take the processors, and those of the machines that they are on.
const headStart = time.Millisecond

// behind notes a change for the back of the line, after all others.
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

// flush marks every socket of the room for a change, unless that was done a moment ago.
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

// wake flushes later; one timer is enough for all changes until then.
func (b *coalescer) wake(wait time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, b.flush)
	} else {
		b.timer.Reset(wait)
	}
}

// markAll marks every socket. Those already marked stay where they are in the queue.
func (b *coalescer) markAll() {
	l := b.l
	l.mu.RLock()
	defer l.mu.RUnlock()
	socket.MarkAll(l.h.pool, l.conns, dueState)
}
